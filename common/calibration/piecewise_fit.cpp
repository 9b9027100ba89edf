#include "common/calibration/piecewise_fit.hpp"

#include "common/diag/error.hpp"
#include "common/units/median.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace coppice {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::vector<TimedSize> one_per_size(const std::vector<TimedSize>& points) {
    std::map<double, std::vector<double>> by_size;
    for (const TimedSize& point : points) {
        COPPICE_CHECK(point.seconds > 0 && point.bytes >= 0, "{} bytes in {} s", point.bytes, point.seconds);
        by_size[point.bytes].push_back(point.seconds);
    }
    std::vector<TimedSize> merged;
    for (const auto& [bytes, seconds] : by_size) merged.push_back({bytes, median(seconds)});
    return merged;
}

// The fewest points to leave out so that no kept one takes less than (1 - tolerance) of any smaller kept one: the
// longest chain in which each point respects the slowest before it. best[i][m]: its length if it ends in i and m is the
// slowest of it.
std::vector<bool> monotone(const std::vector<TimedSize>& points, double tolerance) {
    const std::size_t n = points.size();
    struct Chain {
        int length = 0;
        std::size_t last = 0;     // before this one
        std::size_t slowest = 0;  // then
    };
    std::vector<std::vector<Chain>> best(n, std::vector<Chain>(n));
    for (std::size_t i = 0; i < n; ++i) {
        best[i][i] = {1, i, i};
        for (std::size_t before = 0; before < i; ++before) {
            for (std::size_t slow = 0; slow <= before; ++slow) {
                const Chain& chain = best[before][slow];
                if (chain.length == 0 || points[i].seconds < (1 - tolerance) * points[slow].seconds) continue;
                Chain& longer = best[i][points[i].seconds > points[slow].seconds ? i : slow];
                if (chain.length + 1 > longer.length) longer = {chain.length + 1, before, slow};
            }
        }
    }
    std::size_t last = 0;
    std::size_t slowest = 0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t m = 0; m <= i; ++m)
            if (best[i][m].length >= best[last][slowest].length) {
                last = i;
                slowest = m;
            }
    std::vector<bool> kept(n, false);
    for (;;) {
        kept[last] = true;
        const Chain chain = best[last][slowest];
        if (chain.length == 1) return kept;
        last = chain.last;
        slowest = chain.slowest;
    }
}

struct Line {
    double alpha = 0;
    double per_byte = 0;
    double cost = kInfinite;  // sum of squared relative residuals
};

// Least squares of (o + alpha + per_byte n) / t against 1, with alpha >= 0 and per_byte >= least. The cost is a convex
// parabola in both: if its bottom is not allowed, the best is on an edge.
Line best_line(const std::vector<TimedSize>& points, std::size_t first, std::size_t end, double least,
               double overhead_s) {
    double s11 = 0;
    double s1n = 0;
    double snn = 0;
    double s1 = 0;
    double sn = 0;
    for (std::size_t i = first; i < end; ++i) {
        const double u = 1 / points[i].seconds;
        const double v = points[i].bytes / points[i].seconds;
        s11 += u * u;
        s1n += u * v;
        snn += v * v;
        s1 += u * (1 - overhead_s * u);
        sn += v * (1 - overhead_s * u);
    }
    const auto with_cost = [&](double alpha, double per_byte) {
        double cost = 0;
        for (std::size_t i = first; i < end; ++i) {
            const double r = (overhead_s + alpha + per_byte * points[i].bytes) / points[i].seconds - 1;
            cost += r * r;
        }
        return Line{alpha, per_byte, cost};
    };
    const double determinant = s11 * snn - s1n * s1n;
    if (determinant > 1e-12 * s11 * snn) {
        const double alpha = (s1 * snn - sn * s1n) / determinant;
        const double per_byte = (sn * s11 - s1 * s1n) / determinant;
        if (alpha >= 0 && per_byte >= least) return with_cost(alpha, per_byte);
    }
    Line best = with_cost(std::max(0.0, (s1 - least * s1n) / s11), least);
    if (snn > 0) {
        const Line through_zero = with_cost(0, std::max(least, sn / snn));
        if (through_zero.cost < best.cost) best = through_zero;
    }
    return best;
}

struct Pieces {
    std::vector<std::size_t> begins;
    std::vector<Line> lines;
    double cost = kInfinite;
};

// The best partition into 1, 2, ... pieces.
std::vector<Pieces> partitions(const std::vector<TimedSize>& points, int most, double least, double overhead_s) {
    const std::size_t n = points.size();
    const auto shortest = static_cast<std::size_t>(kLeastPointsOfSegment);
    std::vector<std::vector<Line>> line(n, std::vector<Line>(n + 1));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j <= n; ++j)
            if (j - i >= shortest || (i == 0 && j == n)) line[i][j] = best_line(points, i, j, least, overhead_s);
    std::vector<Pieces> all;
    std::vector<Pieces> upto(n + 1);  // of the first j points, with one piece less
    for (int k = 1; k <= most; ++k) {
        std::vector<Pieces> next(n + 1);
        for (std::size_t j = 1; j <= n; ++j) {
            for (std::size_t i = 0; i < j; ++i) {
                if ((k == 1) != (i == 0) || line[i][j].cost == kInfinite) continue;
                const double cost = (k == 1 ? 0 : upto[i].cost) + line[i][j].cost;
                if (cost >= next[j].cost) continue;
                next[j] = k == 1 ? Pieces{} : upto[i];
                next[j].begins.push_back(i);
                next[j].lines.push_back(line[i][j]);
                next[j].cost = cost;
            }
        }
        if (next[n].cost == kInfinite) break;
        all.push_back(next[n]);
        upto = std::move(next);
    }
    return all;
}

double criterion_of(const Pieces& pieces, std::size_t points) {
    const auto m = static_cast<double>(points);
    const auto parameters = static_cast<double>(3 * pieces.lines.size() - 1);
    return m * std::log(pieces.cost / m + kNoiseFloor * kNoiseFloor) + parameters * std::log(m);
}

struct Chosen {
    std::vector<LinkSegment> segments;
    double criterion = 0;
    std::vector<double> criteria;
};

// Between two pieces the break is where their lines meet. If they do not, it is where the later one's first point is;
// but if the time would fall there, and less so nearer to the earlier one's last point, it is there: no point lies
// between, and a time that falls as the size grows is the less likely one.
double break_between(const Line& before, const Line& after, double last, double first) {
    const double slopes = before.per_byte - after.per_byte;
    if (slopes != 0) {
        const double meet = (after.alpha - before.alpha) / slopes;
        if (meet > last && meet <= first) return std::ceil(meet);
        const bool falls = after.alpha + after.per_byte * first < before.alpha + before.per_byte * first;
        if (meet <= last && falls) return std::min(first, std::floor(last) + 1);
    }
    return first;
}

Chosen choose(const std::vector<TimedSize>& points, const FitOptions& options) {
    const int most = options.segments > 0 ? options.segments : kMostSegments;
    const auto pick = [&](const std::vector<Pieces>& all, std::vector<double>& criteria) {
        criteria.clear();
        for (const Pieces& pieces : all) criteria.push_back(criterion_of(pieces, points.size()));
        if (options.segments > 0) return all.size() - 1;
        return static_cast<std::size_t>(std::min_element(criteria.begin(), criteria.end()) - criteria.begin());
    };
    Chosen chosen;
    // Where times do not grow a piece still needs a rate: a thousand times that of the whole, which changes no time
    // that could be told apart.
    const TimedSize& largest = points.back();
    const std::vector<Pieces> all =
        partitions(points, most, largest.seconds / std::max(1.0, largest.bytes) / 1000, options.overhead_s);
    const Pieces& best = all[pick(all, chosen.criteria)];
    chosen.criterion = criterion_of(best, points.size());
    for (std::size_t i = 0; i < best.lines.size(); ++i) {
        const Line& line = best.lines[i];
        double from = 0;
        if (i > 0) {
            const std::size_t begin = best.begins[i];
            from = break_between(best.lines[i - 1], line, points[begin - 1].bytes, points[begin].bytes);
        }
        chosen.segments.push_back({from, line.alpha, 1 / line.per_byte});
    }
    return chosen;
}

// The point that misses most, if it misses by more than the rest explains.
std::optional<std::size_t> worst_outlier(const std::vector<TimedSize>& points, const std::vector<LinkSegment>& segments,
                                         const FitOptions& options) {
    std::vector<double> errors;
    for (const TimedSize& point : points)
        errors.push_back(std::abs((options.overhead_s + seconds_of(segments, point.bytes)) / point.seconds - 1));
    const double deviation = 1.4826 * median(errors);  // of a normal distribution with this median of |error|
    const auto worst = std::max_element(errors.begin(), errors.end());
    if (*worst <= std::max(options.outlier, 4 * deviation)) return std::nullopt;
    return static_cast<std::size_t>(worst - errors.begin());
}

}  // namespace

PiecewiseFit fit_piecewise(std::vector<TimedSize> points, const FitOptions& options) {
    points = one_per_size(points);
    COPPICE_CHECK(points.size() >= 2, "a line through {} sizes", points.size());
    for (const TimedSize& point : points)
        COPPICE_CHECK(options.overhead_s <= point.seconds, "an overhead of {} s in a time of {} s", options.overhead_s,
                      point.seconds);
    std::map<double, std::string> left_out;
    const std::vector<bool> kept = monotone(points, options.tolerance);
    std::vector<TimedSize> used;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (kept[i])
            used.push_back(points[i]);
        else
            left_out[points[i].bytes] = "not monotone";
    }
    if (used.size() < 2) {  // nothing to be left of a list that only falls
        used = points;
        left_out.clear();
    }
    Chosen chosen = choose(used, options);
    // One at a time, since an outlier bends what the others are judged by; a fifth of them at most.
    const std::size_t most = points.size() / 5;
    for (std::size_t i = 0; i < most && used.size() > 2 * kLeastPointsOfSegment; ++i) {
        const auto worst = worst_outlier(used, chosen.segments, options);
        if (!worst) break;
        left_out[used[*worst].bytes] = "outlier";
        used.erase(used.begin() + static_cast<std::ptrdiff_t>(*worst));
        chosen = choose(used, options);
    }
    PiecewiseFit fit;
    fit.segments = chosen.segments;
    fit.criteria = chosen.criteria;
    fit.quality.criterion = chosen.criterion;
    fit.quality.points = static_cast<std::int64_t>(used.size());
    fit.quality.left_out = static_cast<std::int64_t>(points.size() - used.size());
    std::vector<double> errors;
    for (const TimedSize& point : points) {
        FitResidual residual{point.bytes, point.seconds, options.overhead_s + seconds_of(fit.segments, point.bytes),
                             left_out[point.bytes]};
        if (residual.left_out.empty()) {
            errors.push_back(std::abs(residual.error()));
            fit.quality.mean_error += errors.back() / static_cast<double>(used.size());
            if (errors.back() >= fit.quality.worst_error) {
                fit.quality.worst_error = errors.back();
                fit.quality.worst_bytes = point.bytes;
            }
        }
        fit.residuals.push_back(residual);
    }
    fit.quality.median_error = median(errors);
    return fit;
}

std::vector<FittedDrop> fitted_drops(const std::vector<LinkSegment>& segments, double tolerance) {
    std::vector<FittedDrop> drops;
    for (std::size_t i = 1; i < segments.size(); ++i) {
        const double bytes = segments[i].from_bytes;
        const FittedDrop drop{bytes, segments[i - 1].seconds(bytes), segments[i].seconds(bytes)};
        if (drop.after_s < (1 - tolerance) * drop.before_s) drops.push_back(drop);
    }
    return drops;
}

std::optional<std::string> unreliable(const FitQuality& quality) {
    const auto sizes = static_cast<double>(quality.points + quality.left_out);
    const double out = static_cast<double>(quality.left_out) / sizes;
    if (out > 0.25)
        return fmt::format("{} of {} sizes contradict the others or miss by far", quality.left_out,
                           quality.points + quality.left_out);
    if (quality.mean_error > 0.1)
        return fmt::format("the pieces miss the times by {:.3g} % on average", quality.mean_error * 100);
    return std::nullopt;
}

}  // namespace coppice
