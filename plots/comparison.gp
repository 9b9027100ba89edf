# Predicted against measured times: a point is right on the diagonal, too long above it. A panel for each group of
# predictions, all with the same logarithmic axes, so that groups are compared by eye. Arguments, behind those of data.gp:
#
#   STRATEGIES        names, in the order of the legend
#   STRATEGY_NUMBERS  what the column strategy_index has for each, separated by spaces
#   GROUPS            names, in the order of the panels
#   GROUP_NUMBERS     likewise, of group_index
#   ERRORS            what is said of each group's error
#
# Names are arguments, and found in the file by numbers: gnuplot misreads a quoted field that has quotes in it, and the
# columns behind it.
CSV = ARG1; OUT = ARG2; FORMAT = ARG3; PLOTS = ARG4
STRATEGIES = ARG5; STRATEGY_NUMBERS = ARG6; GROUPS = ARG7; GROUP_NUMBERS = ARG8; ERRORS = ARG9
load PLOTS."/data.gp"

# --- What there is -------------------------------------------------------------------------------------------------
stats CSV using (min(column("predicted_s"), column("measured_s"))) name "LOW" nooutput
stats CSV using (max(column("predicted_s"), column("measured_s"))) name "HIGH" nooutput
stats CSV using (strcol("counted") eq "true" ? 1 : 0) name "COUNTED" nooutput
panels = count(GROUPS)
strategies = count(STRATEGIES)
MARKER_SIZE = 0.65
# They shrink where many points stand close together; the legend's do not.
POINT_SIZE = COUNTED_records > 40 * panels ? 0.4 : MARKER_SIZE
load PLOTS."/style.gp"

# --- Legend --------------------------------------------------------------------------------------------------------
do for [i = 1:strategies] {
    legend = legend + 1
    LEGEND_NAME[legend] = item(STRATEGIES, i); LEGEND_STYLE[legend] = STYLE[i]; LEGEND_FORM[legend] = "point"
}
# Pale: the same marker, smaller, its colour mixed with white.
rgb(colour) = int("0x".colour[2:7])
mixed(colour, at) = 255 - 0.4 * (255 - int("0x".colour[at:at + 1]))
pale(colour) = sprintf("#%02x%02x%02x", mixed(colour, 2), mixed(colour, 4), mixed(colour, 6))
if (COUNTED_min == 0) {
    legend = legend + 1
    PALE = 24
    set style line PALE linecolor rgb "#c0c0c0" pointtype 7 pointsize MARKER_SIZE
    LEGEND_NAME[legend] = "pale: not counted"; LEGEND_STYLE[legend] = PALE; LEGEND_FORM[legend] = "point"
}
legend = legend + 1
LEGEND_NAME[legend] = "predicted = measured"; LEGEND_STYLE[legend] = IDEAL; LEGEND_FORM[legend] = "line"
legend = legend + 1
LEGEND_NAME[legend] = "±10 %"; LEGEND_STYLE[legend] = IDEAL; LEGEND_FORM[legend] = "band"

# --- Panels --------------------------------------------------------------------------------------------------------
# One panel fills a column of a paper; more stand side by side, at most three, and square as well.
columns = panels == 4 ? 2 : min(panels, 3)
rows = ceil(panels / real(columns))
GAP_PT = 12
LEFT_PT = 44
panel_pt = panels == 1 ? WIDTH_PT - LEFT_PT - EDGE_RIGHT_PT : (columns == 2 ? 165 : 142)
WIDTH_PT = LEFT_PT + columns * panel_pt + (columns - 1) * GAP_PT + EDGE_RIGHT_PT

# A group's name is broken at spaces, or anywhere if there are none, into lines as wide as its panel.
NAME_PT = 9
room = int(panel_pt / CHARACTER_PT)
array NAME_LINES[panels]
most_lines = 1
do for [i = 1:panels] {
    rest = item(GROUPS, i)
    text = ""
    while (strlen(rest) > room) {
        cut = room
        do for [c = 2:room] { if (rest[c:c] eq " ") { cut = c } }
        text = text.rest[1:cut]."\n"
        rest = rest[cut + 1:strlen(rest)]
    }
    NAME_LINES[i] = text.rest
    most_lines = max(most_lines, count(NAME_LINES[i]))
}
HEAD_PT = NAME_PT * (most_lines + 1) + 4
PLOT_PT = rows * (panel_pt + HEAD_PT) + 30

# --- Axes ----------------------------------------------------------------------------------------------------------
# One unit for all labels, or, over many decades, a unit at each.
WIDE = HIGH_max / LOW_min > 1e4
unit_name(highest_s) = highest_s < 0.5e-3 ? "µs" : (highest_s < 0.5 ? "ms" : (highest_s < 7200 ? "s" : "h"))
seconds_of(unit) = unit eq "µs" ? 1e-6 : (unit eq "ms" ? 1e-3 : (unit eq "h" ? 3600.0 : 1))
UNIT = WIDE ? "s" : unit_name(HIGH_max)
unit_s = seconds_of(UNIT)
axis_label(what) = what." time".(WIDE ? "" : " (".UNIT.")")
XLABEL = axis_label("measured")
YLABEL = axis_label("predicted")
load PLOTS."/frame.gp"
set logscale xy 10
LOW = LOW_min / unit_s
HIGH = HIGH_max / unit_s
with_unit(s) = s < 0.9e-3 ? sprintf("%g µs", 1e6 * s) : (s < 0.9 ? sprintf("%g ms", 1e3 * s) : sprintf("%g s", s))
# A label with its unit is at most six characters wide.
every = WIDE ? ceil(log10(HIGH / LOW) / floor(panel_pt / (7 * CHARACTER_PT))) : 1
tic_text(value) = WIDE ? (int(floor(log10(value) + 0.5)) % every == 0 ? with_unit(value) : "") : sprintf("%g", value)
BAND = 0.1
BAND_OBJECT = 200

# --- Figure --------------------------------------------------------------------------------------------------------
# Points are drawn in the order of the file, not one strategy after the other: the last one would cover the others.
place(number) = sum [k = 1:strategies] (word(STRATEGY_NUMBERS, k) + 0 == number ? k : 0)
style(row) = STYLE[place(column("strategy_index"))]
shown(group, counted) = column("group_index") == group && (strcol("counted") eq "true") == counted
measured(group, counted) = shown(group, counted) ? column("measured_s") / unit_s : NaN
predicted(row) = column("predicted_s") / unit_s
set multiplot
do for [i = 1:panels] {
    across = (i - 1) % columns
    down = (i - 1) / columns
    left = LEFT_PT + across * (panel_pt + GAP_PT)
    top = TITLE_PT + LEGEND_PT + 5 + HEAD_PT + down * (panel_pt + HEAD_PT)
    set lmargin at screen screen_x(left)
    set rmargin at screen screen_x(left + panel_pt)
    set tmargin at screen screen_y(top)
    set bmargin at screen screen_y(top + panel_pt)
    # Tic labels at the left edge, and below the last panel of each column.
    DECADE_AXIS = "y"; TIC_TEXT = across == 0
    load PLOTS."/decades.gp"
    DECADE_AXIS = "x"; TIC_TEXT = i + columns > panels
    load PLOTS."/decades.gp"
    set xtics offset 0,X_TIC_OFFSET
    a = LOW / margin; b = HIGH * margin; under = 1 - BAND; above = 1 + BAND
    set object BAND_OBJECT polygon from a,under*a to b,under*b to b,above*b to a,above*a to a,under*a \
        fillstyle solid noborder fillcolor rgb BAND_COLOUR back
    name_lines = count(NAME_LINES[i])
    do for [n = 1:name_lines] {
        name_line = item(NAME_LINES[i], n)
        y = top - 6 - (name_lines - n + 1) * NAME_PT
        set label 100 + n name_line at graph 0.5,screen screen_y(y) center font SMALL
    }
    error_line = item(ERRORS, i)
    set label 100 error_line at graph 0.5,screen screen_y(top - 6) center font SMALL
    group = word(GROUP_NUMBERS, i) + 0
    plot x with lines linestyle IDEAL, \
        CSV using (measured(group, 0)):(predicted(0)):(MARKER[style(0)]):(rgb(pale(COLOUR[style(0)]))) \
            with points pointtype variable linecolor rgb variable linewidth 1.4 pointsize 0.9 * POINT_SIZE, \
        CSV using (measured(group, 1)):(predicted(0)):(MARKER[style(0)]):(rgb(COLOUR[style(0)])) \
            with points pointtype variable linecolor rgb variable linewidth 1.4 pointsize POINT_SIZE
    unset label   # the legend stands there once
    if (i == 1) {
        unset arrow
        do for [n = 1:legend] { if (LEGEND_FORM[n] eq "band") { unset object 300 + n } }
    }
}
unset multiplot
set output
