#include "runtime/check_pattern.hpp"

#include "common/diag/error.hpp"

namespace coppice {

namespace {

constexpr std::int64_t kPeriod = 1024;

// The top ten bits of a multiple of the golden ratio: neighbours and equal chunks differ.
std::int64_t scrambled(std::uint64_t element) {
    return static_cast<std::int64_t>((element * 0x9e3779b97f4a7c15ULL) >> 54);
}

std::int64_t worker_part(std::int32_t worker) {
    return worker % kPeriod + 1;
}

std::int64_t worker_parts(std::int32_t workers) {
    std::int64_t sum = 0;
    for (std::int32_t worker = 0; worker < workers; ++worker) sum += worker_part(worker);
    return sum;
}

template <class Visit>
auto with_type(ElementType type, Visit visit) {
    switch (type) {
        case ElementType::Float32:
            return visit(float{});
        case ElementType::Float64:
            return visit(double{});
        case ElementType::Int32:
            return visit(std::int32_t{});
        case ElementType::Int64:
            return visit(std::int64_t{});
    }
    COPPICE_CHECK(false, "element type {}", static_cast<int>(type));
}

}  // namespace

std::int64_t contribution_of(std::int32_t worker, std::uint64_t element) {
    return worker_part(worker) + scrambled(element);
}

std::int64_t exact_sum(std::int32_t workers, std::uint64_t element) {
    return worker_parts(workers) + workers * scrambled(element);
}

void write_contribution(ElementType type, std::int32_t worker, std::byte* data, std::uint64_t elements) {
    const std::int64_t part = worker_part(worker);
    with_type(type, [&](auto zero) {
        using T = decltype(zero);
        T* values = reinterpret_cast<T*>(data);
        for (std::uint64_t i = 0; i < elements; ++i) values[i] = static_cast<T>(part + scrambled(i));
    });
}

WrongElements compare_with_sum(ElementType type, std::int32_t workers, const std::byte* data, std::uint64_t elements) {
    const std::int64_t parts = worker_parts(workers);
    return with_type(type, [&](auto zero) {
        using T = decltype(zero);
        const T* values = reinterpret_cast<const T*>(data);
        WrongElements wrong;
        for (std::uint64_t i = 0; i < elements; ++i) {
            const T expected = static_cast<T>(parts + workers * scrambled(i));
            if (values[i] == expected) [[likely]]
                continue;
            if (wrong.count++ == 0) wrong = {1, i, static_cast<double>(values[i]), static_cast<double>(expected)};
        }
        return wrong;
    });
}

}  // namespace coppice
