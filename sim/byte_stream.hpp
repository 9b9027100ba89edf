// Values to bytes and back, between two processes of one program run (no version, no byte order: not a file format).
#pragma once

#include "common/diag/error.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace coppice {

class ByteWriter {
public:
    template <typename T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    }
    void put_text(std::string_view text) {
        put<std::uint64_t>(text.size());
        bytes_.append(text);
    }
    template <typename T>
    void put_all(const std::vector<T>& values) {
        put<std::uint64_t>(values.size());
        for (const T& value : values) put(value);
    }
    std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

    template <typename T>
    T get() {
        static_assert(std::is_trivially_copyable_v<T>);
        T value;
        std::memcpy(&value, next(sizeof(T)).data(), sizeof(T));
        return value;
    }
    std::string get_text() { return std::string(next(get<std::uint64_t>())); }
    template <typename T>
    std::vector<T> get_all() {
        std::vector<T> values(get<std::uint64_t>());
        for (T& value : values) value = get<T>();
        return values;
    }

private:
    std::string_view next(std::size_t size) {
        COPPICE_CHECK(size <= rest_.size(), "{} bytes wanted, {} left", size, rest_.size());
        const std::string_view bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return bytes;
    }
    std::string_view rest_;
};

}  // namespace coppice
