// Holds ctrl-C and SIGTERM back while files are written, so that none is left half-written: they are looked at between
// two files. A signal that is ignored (nohup) stays ignored.
#pragma once

#include "common/diag/error.hpp"

#include <csignal>
#include <ctime>

namespace coppice::program {

class HeldSignals {
public:
    HeldSignals() {
        sigemptyset(&held_);
        for (const int signal : {SIGINT, SIGTERM}) {
            struct sigaction action = {};
            if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&held_, signal);
        }
        ::pthread_sigmask(SIG_BLOCK, &held_, &mask_before_);
    }
    ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr); }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

    // Interrupted if one has come.
    void check() const {
        const timespec at_once{};
        const int signal = ::sigtimedwait(&held_, nullptr, &at_once);
        if (signal > 0) throw Interrupted(signal);
    }

    // For child processes.
    const sigset_t& mask_before() const { return mask_before_; }

private:
    sigset_t held_{};
    sigset_t mask_before_{};
};

}  // namespace coppice::program
