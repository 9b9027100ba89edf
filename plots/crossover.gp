# Which strategy is the fastest for which GPUs and size: a column for each number of GPUs, coloured by strategy; lines
# where two take as long as each other. Arguments, behind those of data.gp:
#
#   STRATEGIES   names in the order of the column index of rows "fastest"
#   PAIRS        likewise, of rows "meeting"; empty if there are none
#   TITLE
CSV = ARG1; OUT = ARG2; FORMAT = ARG3; PLOTS = ARG4
STRATEGIES = ARG5; PAIRS = ARG6; TITLE = "fastest all-reduce, ".ARG7
load PLOTS."/data.gp"
MARKER_SIZE = 0.6
load PLOTS."/style.gp"

fastest(row) = strcol("kind") eq "fastest"
meeting(row) = strcol("kind") eq "meeting"
stats CSV using (fastest(0) ? column("gpus_low") : NONE) name "LEFT" nooutput
stats CSV using (fastest(0) ? column("gpus_high") : -NONE) name "RIGHT" nooutput
stats CSV using (fastest(0) ? column("from_bytes") : NONE) name "LOW" nooutput
stats CSV using (fastest(0) ? column("to_bytes") : -NONE) name "HIGH" nooutput

# Areas are pale, so that the lines can be seen.
rgb(colour) = int("0x".colour[2:7])
mixed(colour, at) = 255 - 0.5 * (255 - int("0x".colour[at:at + 1]))
pale(colour) = sprintf("#%02x%02x%02x", mixed(colour, 2), mixed(colour, 4), mixed(colour, 6))
strategies = count(STRATEGIES)
pairs = PAIRS eq "" ? 0 : count(PAIRS)
AREA = 30    # line styles
BORDER = 50
do for [i = 1:strategies] {
    colour = pale(COLOUR[STYLE[i]])
    set style line AREA + i linecolor rgb colour linewidth 6 dashtype 1
    legend = legend + 1
    LEGEND_NAME[legend] = item(STRATEGIES, i); LEGEND_STYLE[legend] = AREA + i; LEGEND_FORM[legend] = "line"
}
do for [i = 1:pairs] {
    set style line BORDER + i linecolor rgb "black" linewidth 1.8 dashtype i pointtype MARKER[i] pointsize 0.4
    legend = legend + 1
    LEGEND_NAME[legend] = item(PAIRS, i); LEGEND_STYLE[legend] = BORDER + i; LEGEND_FORM[legend] = "linepoint"
}
PLOT_PT = 185
LEFT_PT = 54
YLABEL = "size"
load PLOTS."/frame.gp"
set logscale x 2
set logscale y 10
set xrange [LEFT_min : RIGHT_max]
set xtics 1, tic_step(LEFT_min, RIGHT_max, 8)
LOW = LOW_min
HIGH = HIGH_max
TIC_TEXT = 1
tic_text(value) = value < 1e3 ? sprintf("%g B", value) : (value < 1e6 ? sprintf("%g kB", value / 1e3) : \
                  (value < 1e9 ? sprintf("%g MB", value / 1e6) : sprintf("%g GB", value / 1e9)))
load PLOTS."/decades.gp"
set yrange [LOW : HIGH]
set grid front
area(i) = fastest(0) && column("index") == i
border(i) = meeting(0) && column("index") == i
# A range begins one element after the one before it: drawn down to it.
plot for [i = 1:strategies] CSV using (area(i) ? column("gpus") : NaN):(column("from_bytes")):(column("gpus_low")) \
         :(column("gpus_high")):(column("from_bytes") * 0.99):(column("to_bytes") * 1.01) \
         with boxxyerror linestyle AREA + i fillstyle solid noborder, \
     for [i = 1:pairs] CSV using (border(i) ? column("gpus") : NaN):(column("from_bytes")) \
         with linespoints linestyle BORDER + i, NaN
set output
