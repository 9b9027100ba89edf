# What figures of records (docs/records.md) have in common. Their arguments, behind those of data.gp:
#
#   STRATEGIES  names, in the order of the legend
#   BATCH       the global batch (SCALING strong) or the batch per GPU (SCALING weak) that is drawn
#   SCALING     strong or weak
#   TITLE       a line above the figure; the batch is added to it
load PLOTS."/data.gp"

# --- Records -------------------------------------------------------------------------------------------------------
# gnuplot 5.4 cuts strcol() of a quoted field at its first comma, as in "ps(placement=dedicated,shards=4)"; plotted as
# a label, from a column that is given by its number, it comes whole. Hence the strategy of row n is
# ROW_STRATEGY[n + 1]: the one that was asked for, so that one which leaves the choice open has a line of its own.
stats CSV using (sum [k = 1:100] (columnhead(k) eq "strategy_requested" ? k : 0)) name "STRATEGY_COLUMN" nooutput
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

stats CSV using (shown(BATCH) ? column("gpus") : NONE) name "LOW" nooutput
stats CSV using (shown(BATCH) ? column("gpus") : -NONE) name "HIGH" nooutput
X_MIN = LOW_min
X_MAX = HIGH_max
if (X_MIN > X_MAX) {
    print "nothing to draw: no record with status ok has the batch ", BATCH
    exit status 1
}

if (TITLE ne "") { TITLE = sprintf("%s, batch %.0f%s", TITLE, BATCH, WEAK ? " a GPU" : "") }
# Markers shrink where many counts stand close together.
stats CSV using (shown(BATCH) ? 1 : 0) name "SHOWN" nooutput
MARKER_SIZE = SHOWN_sum > 12 * count(STRATEGIES) ? 0.5 : 0.75
load PLOTS."/style.gp"
