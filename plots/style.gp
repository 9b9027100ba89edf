# Lines, markers and legend of all figures: a strategy looks the same in each. Loaded after data.gp, by a script that has
# STRATEGIES (names, in the order of the legend) and MARKER_SIZE.

# --- Lines and markers ---------------------------------------------------------------------------------------------
# A known strategy has a style of its own in all figures. Any other name, and a second variant of a known one, takes
# the next style that no strategy of the figure has; beyond ten they repeat.
KNOWN = "ps tree ring halving-doubling double-tree hierarchical recursive-doubling torus hybrid local"
STYLES = 10
array COLOUR[STYLES] = ["#D55E00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", \
                        "#E69F00", "#000000", "#8A5A00", "#6A3D9A", "#777777"]
array MARKER[STYLES] = [5, 7, 9, 11, 13, 4, 6, 8, 10, 12]
array DASH[STYLES] = [2, 1, 4, 3, 5, 1, 2, 4, 3, 5]
do for [k = 1:STYLES] {
    colour = COLOUR[k]
    set style line k linecolor rgb colour linewidth 2.4 dashtype DASH[k] pointtype MARKER[k] pointsize MARKER_SIZE
}
IDEAL = 21
set style line IDEAL linecolor rgb "#707070" linewidth 1.4 dashtype 1
BAND_COLOUR = "#d4d4d4"
CHECK = 22   # a published point: a hollow diamond, on white
set style line CHECK linecolor rgb "black" linewidth 2 dashtype 1 pointtype 12 pointsize 1.2
FIT = 23     # a published point that served to fit the cluster: an asterisk, as in the table
set style line FIT linecolor rgb "black" linewidth 2 dashtype 1 pointtype 3 pointsize 1.2

base(name) = strstrt(name, "(") > 0 ? name[1:strstrt(name, "(") - 1] : name
known(name) = sum [k = 1:words(KNOWN)] (word(KNOWN, k) eq base(name) ? k : 0)
array STYLE[max(1, count(STRATEGIES))]
taken = " "   # the numbers that are in use, each between spaces
is_taken(k) = strstrt(taken, sprintf(" %d ", k)) > 0
do for [i = 1:count(STRATEGIES)] {
    STYLE[i] = 0
    k = known(item(STRATEGIES, i))
    if (k > 0 && !is_taken(k)) { STYLE[i] = k; taken = taken.sprintf("%d ", k) }
}
do for [i = 1:count(STRATEGIES)] {
    if (STYLE[i] == 0) {
        k = 1
        while (k < STYLES && is_taken(k)) { k = k + 1 }
        if (is_taken(k)) { k = (i - 1) % STYLES + 1 }
        STYLE[i] = k
        taken = taken.sprintf("%d ", k)
    }
}

# --- Legend --------------------------------------------------------------------------------------------------------
# LEGEND_NAME[n], n = 1..legend; LEGEND_STYLE[n], a line style; LEGEND_FORM[n], "line", "point", "linepoint" or
# "band".
array LEGEND_NAME[40]
array LEGEND_STYLE[40]
array LEGEND_FORM[40]
legend = 0

# --- Layout --------------------------------------------------------------------------------------------------------
# What a script may change before it loads frame.gp.
WIDTH_PT = 238   # 3.3 in
LEFT_PT = 37     # of the plot's axes
XLABEL = "GPUs"
if (!exists("TITLE")) { TITLE = "" }
# Between the right edge of the plot's axes and that of the figure.
EDGE_RIGHT_PT = 9
# A character of 7 pt DejaVu Sans is 4.3 pt wide on average.
CHARACTER_PT = 4.3
