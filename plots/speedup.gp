# Speedup against GPUs: a line for each strategy, the ideal line, and the published points, those that the cluster was
# fitted to apart from those that check it. Arguments: records.gp.
CSV = ARG1; OUT = ARG2; FORMAT = ARG3; PLOTS = ARG4
STRATEGIES = ARG5; BATCH = ARG6 + 0; WEAK = ARG7 eq "weak"; TITLE = ARG8
load PLOTS."/records.gp"

# --- What there is -------------------------------------------------------------------------------------------------
published(use) = shown(BATCH) && field("published_speedup") > 0 && (strcol("published_use") eq "fit") == (use eq "fit")
upper_end(low) = max(low, highest(field("published_speedup_high")))   # of a published range
stats CSV using (shown(BATCH) ? lowest(positive("speedup")) : NONE) name "LOW" nooutput
stats CSV using (shown(BATCH) ? highest(field("speedup")) : -NONE) name "HIGH" nooutput
stats CSV using (shown(BATCH) ? lowest(positive("published_speedup")) : NONE) name "PAPER_LOW" nooutput
stats CSV using (shown(BATCH) ? upper_end(highest(field("published_speedup"))) : -NONE) name "PAPER_HIGH" nooutput
stats CSV using (published("fit") ? 1 : 0) name "FITS" nooutput
stats CSV using (published("check") ? 1 : 0) name "CHECKS" nooutput

# --- Legend --------------------------------------------------------------------------------------------------------
do for [i = 1:count(STRATEGIES)] {
    legend = legend + 1
    LEGEND_NAME[legend] = item(STRATEGIES, i); LEGEND_STYLE[legend] = STYLE[i]; LEGEND_FORM[legend] = "linepoint"
}
legend = legend + 1
LEGEND_NAME[legend] = "ideal"; LEGEND_STYLE[legend] = IDEAL; LEGEND_FORM[legend] = "line"
if (CHECKS_max > 0) {
    legend = legend + 1
    LEGEND_NAME[legend] = "published"; LEGEND_STYLE[legend] = CHECK; LEGEND_FORM[legend] = "point"
}
if (FITS_max > 0) {
    legend = legend + 1
    LEGEND_NAME[legend] = "published, fitted to"; LEGEND_STYLE[legend] = FIT; LEGEND_FORM[legend] = "point"
}

# --- Figure --------------------------------------------------------------------------------------------------------
PLOT_PT = 165
YLABEL = "speedup over one GPU"
load PLOTS."/frame.gp"
set logscale x 2
set logscale y 2
y_min = floor2(min(X_MIN, min(LOW_min, PAPER_LOW_min)))
y_max = ceil2(max(X_MAX, max(HIGH_max, PAPER_HIGH_max)))
set xrange [X_MIN / PAD : X_MAX * PAD]
set yrange [y_min / PAD : y_max * PAD]
set xtics 1, tic_step(X_MIN, X_MAX, 8)
set ytics 1, tic_step(y_min, y_max, 8)

checked(i) = of(item(STRATEGIES, i)) && published("check")
fitted(i) = of(item(STRATEGIES, i)) && published("fit")
ranged(batch) = shown(batch) && field("published_speedup_high") > field("published_speedup")
plot x with lines linestyle IDEAL, \
    for [i = 1:count(STRATEGIES)] CSV using (of(item(STRATEGIES, i)) ? column("gpus") : NaN):(positive("speedup")) \
        with linespoints linestyle STYLE[i], \
    for [i = 1:count(STRATEGIES)] CSV using (checked(i) ? column("gpus") : NaN):(field("published_speedup")) \
        with points linestyle CHECK linecolor rgb "white" pointtype 13, \
    for [i = 1:count(STRATEGIES)] CSV using (checked(i) ? column("gpus") : NaN):(field("published_speedup")) \
        with points linestyle CHECK linecolor rgb COLOUR[STYLE[i]], \
    for [i = 1:count(STRATEGIES)] CSV using (fitted(i) ? column("gpus") : NaN):(field("published_speedup")) \
        with points linestyle FIT, \
    CSV using (ranged(BATCH) ? column("gpus") : NaN):(field("published_speedup")):(0) \
        :(field("published_speedup_high") - field("published_speedup")) with vectors nohead linestyle CHECK
set output
