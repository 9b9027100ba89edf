#include "common/units/quantity.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace coppice {
namespace {

double value(std::string_view text, Dimension dimension) {
    const auto parsed = parse_quantity(text, dimension);
    if (const auto* problem = std::get_if<QuantityProblem>(&parsed))
        throw std::runtime_error(std::string(text) + ": " + problem->expected + "; " + problem->hint);
    return std::get<double>(parsed);
}

QuantityProblem problem(std::string_view text, Dimension dimension) {
    const auto parsed = parse_quantity(text, dimension);
    if (const double* number = std::get_if<double>(&parsed))
        throw std::runtime_error(std::string(text) + " was understood as " + std::to_string(*number));
    return std::get<QuantityProblem>(parsed);
}

TEST(Quantity, decimal_prefixes_are_powers_of_ten) {
    EXPECT_EQ(value("8.3 GB/s", Dimension::BytesPerSecond), 8.3e9);
    EXPECT_EQ(value("30.4 MB", Dimension::Bytes), 30.4e6);
    EXPECT_EQ(value("3.95 TFLOPS", Dimension::FlopPerSecond), 3.95e12);
    EXPECT_EQ(value("2.2 GFLOP", Dimension::Flop), 2.2e9);
    EXPECT_EQ(value("64 kB", Dimension::Bytes), 64e3);
    EXPECT_EQ(value("64 KB", Dimension::Bytes), 64e3);
}

TEST(Quantity, binary_prefixes_are_powers_of_two) {
    EXPECT_EQ(value("1 KiB", Dimension::Bytes), 1024.0);
    EXPECT_EQ(value("16 GiB", Dimension::Bytes), 16.0 * 1024 * 1024 * 1024);
    EXPECT_EQ(value("2 MiB/s", Dimension::BytesPerSecond), 2.0 * 1024 * 1024);
}

TEST(Quantity, a_bit_is_an_eighth_of_a_byte) {
    EXPECT_EQ(value("10 Gbps", Dimension::BytesPerSecond), 1.25e9);
    EXPECT_EQ(value("10 Gbit/s", Dimension::BytesPerSecond), 1.25e9);
    EXPECT_EQ(value("10 Gb/s", Dimension::BytesPerSecond), 1.25e9);
    EXPECT_EQ(value("10 GBps", Dimension::BytesPerSecond), 10e9);
    EXPECT_EQ(value("8 bit", Dimension::Bytes), 1.0);
    EXPECT_EQ(value("8 bps", Dimension::BytesPerSecond), 1.0);
}

// The double nearest to the decimal literal, not a product with an inexact 1e-6.
TEST(Quantity, small_durations_are_exact) {
    EXPECT_EQ(value("1.5 us", Dimension::Seconds), 1.5e-6);
    EXPECT_EQ(value("1.5 \u00b5s", Dimension::Seconds), 1.5e-6);
    EXPECT_EQ(value("3 ns", Dimension::Seconds), 3e-9);
    EXPECT_EQ(value("7 ms", Dimension::Seconds), 7e-3);
    EXPECT_EQ(value("504 h", Dimension::Seconds), 504.0 * 3600);
    EXPECT_EQ(value("21 d", Dimension::Seconds), 21.0 * 86400);
}

TEST(Quantity, numbers_may_be_written_in_many_ways) {
    EXPECT_EQ(value("1_000_000 B", Dimension::Bytes), 1e6);
    EXPECT_EQ(value("1e3B", Dimension::Bytes), 1e3);
    EXPECT_EQ(value("  +2.5E-1 s ", Dimension::Seconds), 0.25);
    EXPECT_EQ(value("1.25GB/s", Dimension::BytesPerSecond), 1.25e9);
    EXPECT_EQ(value("42.3 images/s", Dimension::PerSecond), 42.3);
    EXPECT_EQ(value("-1 s", Dimension::Seconds), -1.0);  // the sign is the reader's to judge
}

TEST(Quantity, a_bare_number_shows_the_two_likely_meanings) {
    const QuantityProblem bandwidth = problem("10", Dimension::BytesPerSecond);
    EXPECT_NE(bandwidth.hint.find("'10 Gbps' (1.25 GB/s (10 Gbps))"), std::string::npos) << bandwidth.hint;
    EXPECT_NE(bandwidth.hint.find("'10 GB/s' (10 GB/s (80 Gbps))"), std::string::npos) << bandwidth.hint;
    EXPECT_NE(problem("1250000000", Dimension::BytesPerSecond).hint.find("'1250000000 bps'"), std::string::npos);
    EXPECT_NE(problem("30", Dimension::Bytes).hint.find("'30 MB'"), std::string::npos);
    EXPECT_NE(problem("30", Dimension::Bytes).hint.find("'30 MiB'"), std::string::npos);
    EXPECT_NE(problem("1.5", Dimension::Seconds).hint.find("'1.5 us'"), std::string::npos);
    EXPECT_NE(problem("4", Dimension::FlopPerSecond).hint.find("'4 TFLOPS'"), std::string::npos);
    EXPECT_NE(problem("40", Dimension::PerSecond).hint.find("'40 images/s'"), std::string::npos);
}

TEST(Quantity, a_unit_of_another_dimension_is_named) {
    EXPECT_NE(problem("10 GB", Dimension::BytesPerSecond).hint.find("'GB' is the unit of an amount of data"),
              std::string::npos);
    EXPECT_NE(problem("10 GB", Dimension::BytesPerSecond).hint.find("'10 GB/s'?"), std::string::npos);
    EXPECT_NE(problem("10 Gbps", Dimension::Bytes).hint.find("a bandwidth"), std::string::npos);
    EXPECT_NE(problem("4 TFLOP", Dimension::FlopPerSecond).hint.find("'4 TFLOP/s'?"), std::string::npos);
    EXPECT_NE(problem("10 us", Dimension::BytesPerSecond).hint.find("a duration"), std::string::npos);
}

TEST(Quantity, the_case_of_b_is_never_guessed) {
    const QuantityProblem wrong = problem("10 gbps", Dimension::BytesPerSecond);
    EXPECT_NE(wrong.hint.find("'10 Gbps'"), std::string::npos) << wrong.hint;
    EXPECT_NE(wrong.hint.find("'10 GBps'"), std::string::npos) << wrong.hint;
    EXPECT_NE(problem("30 mb", Dimension::Bytes).hint.find("'30 MB'"), std::string::npos);
}

TEST(Quantity, nonsense_is_a_problem_and_never_a_number) {
    for (const char* text :
         {"", " ", "GB/s", "ten GB/s", "1.2.3 GB/s", "1e GB/s", "nan GB/s", "inf GB/s", "1e400 GB/s", "10 XB/s",
          "10 GB/s/s", "10 GB/s extra", "--1 GB/s", "1__0 GB/s", "_1 GB/s", "10 mGB/s", "10 GiGB/s"})
        EXPECT_NO_THROW(problem(text, Dimension::BytesPerSecond)) << "'" << text << "'";
    for (const char* text : {"1 kmin", "1 Ms", "1 kh"}) EXPECT_NO_THROW(problem(text, Dimension::Seconds)) << text;
}

using RoundTrip = std::tuple<double, Dimension>;
class QuantityRoundTrip : public ::testing::TestWithParam<RoundTrip> {};

TEST_P(QuantityRoundTrip, formatted_text_parses_to_the_same_double) {
    const auto [number, dimension] = GetParam();
    EXPECT_EQ(value(format_quantity(number, dimension), dimension), number) << format_quantity(number, dimension);
}

INSTANTIATE_TEST_SUITE_P(
    values, QuantityRoundTrip,
    ::testing::Combine(::testing::Values(0.0, 1.0, 8.3e9, 1.0 / 3, 2.7e9, 1.5e-6, 1e-9, 123456789.0, 504.0 * 3600,
                                         3.95e12, 1e15, 5e-324, 1.7e300),
                       ::testing::Values(Dimension::Bytes, Dimension::BytesPerSecond, Dimension::Seconds,
                                         Dimension::Flop, Dimension::FlopPerSecond, Dimension::PerSecond)));

TEST(Quantity, is_formatted_for_people_with_the_fitting_prefix) {
    EXPECT_EQ(format_quantity(8.3e9, Dimension::BytesPerSecond), "8.3 GB/s");
    EXPECT_EQ(format_quantity(1.5e-6, Dimension::Seconds), "1.5 us");
    EXPECT_EQ(format_quantity(135.8e-6, Dimension::Seconds), "135.8 us") << "0.0001358 * 1e6 is 135.79999...";
    EXPECT_EQ(format_quantity(1.0599e-3, Dimension::Seconds), "1.0599 ms");
    EXPECT_EQ(format_quantity(1e-12, Dimension::Seconds), "0.001 ns");
    EXPECT_EQ(format_quantity(8589934592, Dimension::Bytes), "8.589934592 GB");
    EXPECT_EQ(format_quantity(-250, Dimension::Bytes), "-250 B");
    EXPECT_EQ(format_rounded(53513120, Dimension::Bytes), "53.51 MB");
    EXPECT_EQ(format_bandwidth_both(1.25e9), "1.25 GB/s (10 Gbps)");
}

}  // namespace
}  // namespace coppice
