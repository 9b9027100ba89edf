# The step and its parts against GPUs: compute, communication that compute does not hide, update. Arguments: records.gp.
#
# A panel for each strategy, all with the same logarithmic axes: a parameter server's step at 128 GPUs is ten times
# that of a tree, and the step at one GPU a hundred times, so bars on a linear axis would show nothing of the short
# ones; and where the lines of compute and communication cross is where a strategy stops to scale.
CSV = ARG1; OUT = ARG2; FORMAT = ARG3; PLOTS = ARG4
STRATEGIES = ARG5; BATCH = ARG6 + 0; WEAK = ARG7 eq "weak"; TITLE = ARG8
load PLOTS."/records.gp"

# --- The parts -----------------------------------------------------------------------------------------------------
PARTS = "step_s compute_s exposed_comm_s update_s"
array PART_NAME[4] = ["step", "compute", "exposed communication", "update"]
array PART_STYLE[4] = [31, 32, 33, 34]
part_size = 0.8 * MARKER_SIZE
set style line 31 linecolor rgb "#000000" linewidth 2.4 dashtype 1 pointtype 6 pointsize part_size
set style line 32 linecolor rgb "#0072B2" linewidth 2.0 dashtype 2 pointtype 5 pointsize part_size
set style line 33 linecolor rgb "#D55E00" linewidth 2.0 dashtype 4 pointtype 9 pointsize part_size
set style line 34 linecolor rgb "#777777" linewidth 2.0 dashtype 3 pointtype 13 pointsize part_size
stats CSV using (shown(BATCH) ? highest(positive("step_s")) : -NONE) name "HIGH" nooutput
stats CSV using (shown(BATCH) ? lowest(positive("compute_s")) : NONE) name "COMPUTE" nooutput
stats CSV using (shown(BATCH) ? lowest(positive("exposed_comm_s")) : NONE) name "COMM" nooutput
stats CSV using (shown(BATCH) ? lowest(positive("update_s")) : NONE) name "UPDATE" nooutput
stats CSV using (shown(BATCH) ? highest(positive("update_s")) : -NONE) name "UPDATE_HIGH" nooutput
UNIT = time_unit(HIGH_max)
HIGH = in_unit(HIGH_max)
# What is next to nothing shall not set the axis: four decades are shown at most, and the update only if it fits.
LOW = max(in_unit(min(COMPUTE_min, COMM_min)), HIGH / 1e4)
parts = in_unit(UPDATE_HIGH_max) > HIGH / 1e4 ? 4 : 3
if (parts == 4) { LOW = max(min(LOW, in_unit(UPDATE_min)), HIGH / 1e4) }
do for [k = 1:parts] {
    legend = legend + 1
    LEGEND_NAME[legend] = PART_NAME[k]; LEGEND_STYLE[legend] = PART_STYLE[k]; LEGEND_FORM[legend] = "linepoint"
}

# --- Panels --------------------------------------------------------------------------------------------------------
panels = count(STRATEGIES)
longest = 0
do for [i = 1:panels] { longest = max(longest, strlen(item(STRATEGIES, i))) }
columns = panels == 1 || longest > 24 ? 1 : (panels == 2 || panels == 4 || longest > 15 ? 2 : 3)
lines = ceil(panels / real(columns))
PANEL_PT = lines == 1 ? 110 : 80   # of the axes
HEAD_PT = 12                       # of the strategy's name above them
PLOT_PT = lines * (PANEL_PT + HEAD_PT) + 30
GAP_PT = 9
YLABEL = "time (".UNIT.")"
load PLOTS."/frame.gp"
set logscale x 2
set logscale y 10
panel_pt = (RIGHT_PT - LEFT_PT - (columns - 1) * GAP_PT) / real(columns)
set xrange [X_MIN / PAD : X_MAX * PAD]
set xtics 1, tic_step(X_MIN, X_MAX, panel_pt / 24)

set multiplot
do for [i = 1:panels] {
    across = (i - 1) % columns
    down = (i - 1) / columns
    left = LEFT_PT + across * (panel_pt + GAP_PT)
    top = TITLE_PT + LEGEND_PT + 5 + HEAD_PT + down * (PANEL_PT + HEAD_PT)
    set lmargin at screen screen_x(left)
    set rmargin at screen screen_x(left + panel_pt)
    set tmargin at screen screen_y(top)
    set bmargin at screen screen_y(top + PANEL_PT)
    # Tic labels at the left edge, and below the last panel of each column.
    TIC_TEXT = across == 0
    load PLOTS."/decades.gp"
    if (i + columns > panels) { set xtics format "%g" } else { set xtics format "" }
    name = item(STRATEGIES, i)
    set label 100 name at graph 0.5,screen screen_y(top - 5) center font SMALL
    plot for [k = 1:parts] CSV using (of(name) ? column("gpus") : NaN):(in_unit(positive(word(PARTS, k)))) \
        with linespoints linestyle PART_STYLE[k]
    if (i == 1) {   # the legend stands there once
        unset label
        unset arrow
    }
}
unset multiplot
set output
