# What all figures of coppice begin with: how their CSV file is read, and what axes need. Loaded by plots/KIND.gp, which
# gnuplot (5.4 or later) runs as
#
#   gnuplot -c plots/KIND.gp CSV OUT FORMAT PLOTS_DIR ARGUMENTS...
#
#   CSV         the data, read by column name; an absent value is empty
#   OUT         the file to write
#   FORMAT      pdf, svg or png
#   PLOTS_DIR   this folder
#   ARGUMENTS   records.gp and comparison.gp have them; a list of names is separated by line breaks
#
# A figure is one column of a two-column paper, 3.3 in wide (comparison: more with several panels), to be included
# without scaling: text is then 8 pt, 7 pt at the tics and in the legend. Strategies differ in colour (Okabe and Ito's,
# distinct with any colour vision), in dash and in marker, so that a black-and-white print can be read as well.
#
# A script names its arguments (`load` hides ARG1, ARG2, ...), loads records.gp, or this file and then style.gp, looks at
# the data, fills the legend, sets PLOT_PT (the height below the legend, in points) and YLABEL, loads frame.gp and plots.

set encoding utf8
set datafile separator comma
set datafile columnheaders
set datafile missing NaN   # rows that a filter turns into NaN are left out and do not break the line

# --- Lists of names ------------------------------------------------------------------------------------------------
item_end(text) = strstrt(text, "\n")
first_item(text) = item_end(text) > 0 ? text[1:item_end(text) - 1] : text
other_items(text) = text[item_end(text) + 1:strlen(text)]
count(text) = 1 + (item_end(text) > 0 ? count(other_items(text)) : 0)
item(text, n) = n == 1 ? first_item(text) : item(other_items(text), n - 1)

# --- Numbers -------------------------------------------------------------------------------------------------------
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
# For decades.gp, which a script loads once it has LOW, HIGH and TIC_TEXT.
DECADE_AXIS = "y"
tic_text(value) = sprintf("%g", value)
