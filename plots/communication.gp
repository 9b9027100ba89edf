# Communication that compute does not hide, against GPUs: FireCaffe's comparison of the parameter server, whose time is
# linear in the GPUs, with the reduction tree, whose time is logarithmic. Arguments: records.gp.
CSV = ARG1; OUT = ARG2; FORMAT = ARG3; PLOTS = ARG4
STRATEGIES = ARG5; BATCH = ARG6 + 0; WEAK = ARG7 eq "weak"; TITLE = ARG8
load PLOTS."/records.gp"

exposed(batch) = shown(batch) && column("gpus") > 1 ? positive("exposed_comm_s") : NaN
stats CSV using (lowest(exposed(BATCH))) name "LOW" nooutput
stats CSV using (highest(exposed(BATCH))) name "HIGH" nooutput
stats CSV using (shown(BATCH) && column("gpus") > 1 ? column("gpus") : NONE) name "FIRST" nooutput
nothing = LOW_min > HIGH_max
y_low = nothing ? 0.1 : LOW_min
y_high = nothing ? 1 : HIGH_max
first = nothing ? X_MIN : FIRST_min

do for [i = 1:count(STRATEGIES)] {
    legend = legend + 1
    LEGEND_NAME[legend] = item(STRATEGIES, i); LEGEND_STYLE[legend] = STYLE[i]; LEGEND_FORM[legend] = "linepoint"
}
PLOT_PT = 165
UNIT = time_unit(y_high)
YLABEL = "exposed communication (".UNIT.")"
load PLOTS."/frame.gp"
set logscale x 2
set logscale y 10
set xrange [first / PAD : X_MAX * PAD]
set xtics 1, tic_step(first, X_MAX, 8)
LOW = in_unit(y_low)
HIGH = in_unit(y_high)
TIC_TEXT = 1
load PLOTS."/decades.gp"
if (nothing) {
    set label "no communication" at graph 0.5,0.5 center
}
plot for [i = 1:count(STRATEGIES)] CSV using (of(item(STRATEGIES, i)) ? column("gpus") : NaN) \
    :(in_unit(exposed(BATCH))) with linespoints linestyle STYLE[i], NaN   # NaN: a plot of nothing at all is an error
set output
