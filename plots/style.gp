# What all figures of coppice have in common. Loaded by plots/KIND.gp, which gnuplot (5.4 or later) runs as
#
#   gnuplot -c plots/KIND.gp CSV OUT FORMAT STRATEGIES BATCH SCALING TITLE PLOTS_DIR
#
#   CSV         records (docs/records.md), read by column name; an absent value is empty
#   OUT         the file to write
#   FORMAT      pdf, svg or png
#   STRATEGIES  names separated by spaces, in the order of the legend
#   BATCH       the global batch (SCALING strong) or the batch per GPU (SCALING weak) that is drawn
#   TITLE       a line above the figure; the batch is added to it
#
# A figure is one column of a two-column paper, 3.3 in wide, to be included without scaling: text is then 8 pt, 7 pt
# at the tics and in the legend. Strategies differ in colour (Okabe and Ito's, distinct with any colour vision), in
# dash and in marker, so that a black-and-white print can be read as well.
#
# A script names its arguments (`load` hides ARG1, ARG2, ...), loads this file, looks at the data, fills the legend,
# sets PLOT_PT (the height below the legend, in points) and YLABEL, loads frame.gp and plots.

set encoding utf8
set datafile separator comma
set datafile columnheaders
set datafile missing NaN   # rows that a filter turns into NaN are left out and do not break the line

# --- Records -------------------------------------------------------------------------------------------------------
# gnuplot 5.4 cuts strcol() of a quoted field at its first comma, as in "ps(placement=dedicated,shards=4)"; plotted as
# a label, from a column that is given by its number, it comes whole. Hence the strategy of row n is
# ROW_STRATEGY[n + 1].
stats CSV using (sum [k = 1:100] (columnhead(k) eq "strategy" ? k : 0)) name "STRATEGY_COLUMN" nooutput
strategy_column = int(STRATEGY_COLUMN_max)
set table $labels
plot [-1:*] [-1:1] CSV using 0:(0):strategy_column with labels
unset table
array ROW_STRATEGY[|$labels|]
rows = 0
do for [n = 1:|$labels|] {
    quote = strstrt($labels[n], '"')
    if (quote > 0 && $labels[n][1:1] ne "#") {
        rows = rows + 1
        ROW_STRATEGY[rows] = $labels[n][quote + 1:strlen($labels[n]) - 1]
    }
}

# gnuplot's functions need an argument; `batch` is always BATCH.
shown(batch) = strcol("status") eq "ok" && column(WEAK ? "batch_per_gpu" : "global_batch") == batch
of(strategy) = shown(BATCH) && ROW_STRATEGY[int(column(0)) + 1] eq strategy
field(name) = strcol(name) eq "" ? NaN : column(name)
positive(name) = field(name) > 0 ? field(name) : NaN   # a logarithmic axis has no zero
is_number(x) = x == x

# `stats` fails where no row has a value, so it is given a number for every row: one beyond all values, either way.
NONE = 1e300
lowest(x) = is_number(x) ? x : NONE
highest(x) = is_number(x) ? x : -NONE
min(a, b) = a < b ? a : b
max(a, b) = a > b ? a : b

# --- Axes ----------------------------------------------------------------------------------------------------------
floor2(x) = 2.0 ** floor(log(x) / log(2) + 1e-9)
ceil2(x) = 2.0 ** ceil(log(x) / log(2) - 1e-9)
floor10(x) = 10.0 ** floor(log10(x) + 1e-9)
ceil10(x) = 10.0 ** ceil(log10(x) - 1e-9)
# Between two labelled powers of two, so that at most `room` labels are needed from low to high.
tic_step(low, high, room) = 2.0 ** max(1, ceil(log(high / low) / log(2) / room))
# Seconds, or milliseconds where all values of the figure are below half a second.
time_unit(highest_s) = highest_s < 0.5 ? "ms" : "s"
in_unit(seconds) = UNIT eq "ms" ? 1000 * seconds : seconds
# Axes reach a little beyond the data, so that no marker is cut.
PAD = 1.2

stats CSV using (shown(BATCH) ? column("gpus") : NONE) name "LOW" nooutput
stats CSV using (shown(BATCH) ? column("gpus") : -NONE) name "HIGH" nooutput
X_MIN = LOW_min
X_MAX = HIGH_max
if (X_MIN > X_MAX) {
    print "nothing to draw: no record with status ok has the batch ", BATCH
    exit status 1
}

# --- Lines and markers ---------------------------------------------------------------------------------------------
# A known strategy has a style of its own in all figures. Any other name, and a second variant of a known one, takes
# the next style that no strategy of the figure has; beyond ten they repeat.
KNOWN = "ps tree ring halving-doubling double-tree hierarchical recursive-doubling torus hybrid local"
STYLES = 10
array COLOUR[STYLES] = ["#D55E00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", \
                        "#E69F00", "#000000", "#8A5A00", "#6A3D9A", "#777777"]
array MARKER[STYLES] = [5, 7, 9, 11, 13, 4, 6, 8, 10, 12]
array DASH[STYLES] = [2, 1, 4, 3, 5, 1, 2, 4, 3, 5]
# Markers shrink where many counts stand close together.
stats CSV using (shown(BATCH) ? 1 : 0) name "SHOWN" nooutput
MARKER_SIZE = SHOWN_sum > 12 * words(STRATEGIES) ? 0.5 : 0.75
do for [k = 1:STYLES] {
    colour = COLOUR[k]
    set style line k linecolor rgb colour linewidth 2.4 dashtype DASH[k] pointtype MARKER[k] pointsize MARKER_SIZE
}
IDEAL = 21
set style line IDEAL linecolor rgb "#707070" linewidth 1.4 dashtype 1
CHECK = 22   # a published point: a hollow diamond, on white
set style line CHECK linecolor rgb "black" linewidth 2 dashtype 1 pointtype 12 pointsize 1.2
FIT = 23     # a published point that served to fit the cluster: an asterisk, as in the table
set style line FIT linecolor rgb "black" linewidth 2 dashtype 1 pointtype 3 pointsize 1.2

base(name) = strstrt(name, "(") > 0 ? name[1:strstrt(name, "(") - 1] : name
known(name) = sum [k = 1:words(KNOWN)] (word(KNOWN, k) eq base(name) ? k : 0)
array STYLE[max(1, words(STRATEGIES))]
taken = " "   # the numbers that are in use, each between spaces
is_taken(k) = strstrt(taken, sprintf(" %d ", k)) > 0
do for [i = 1:words(STRATEGIES)] {
    STYLE[i] = 0
    k = known(word(STRATEGIES, i))
    if (k > 0 && !is_taken(k)) { STYLE[i] = k; taken = taken.sprintf("%d ", k) }
}
do for [i = 1:words(STRATEGIES)] {
    if (STYLE[i] == 0) {
        k = 1
        while (k < STYLES && is_taken(k)) { k = k + 1 }
        if (is_taken(k)) { k = (i - 1) % STYLES + 1 }
        STYLE[i] = k
        taken = taken.sprintf("%d ", k)
    }
}

# --- Legend --------------------------------------------------------------------------------------------------------
# LEGEND_NAME[n], n = 1..legend; LEGEND_STYLE[n], a line style; LEGEND_FORM[n], "line", "point" or "linepoint".
array LEGEND_NAME[40]
array LEGEND_STYLE[40]
array LEGEND_FORM[40]
legend = 0
