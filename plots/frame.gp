# Legend, title, terminal, margins and labels of the axes. Loaded as data.gp says, when the legend is filled and
# PLOT_PT and YLABEL are set.
#
# The legend is laid out here, in points, because gnuplot's own estimates the width of a text differently in each
# terminal, and cuts or overlaps long names of strategies.
FONT = "DejaVu Sans"
SMALL = FORMAT eq "svg" ? FONT.",14" : FONT.",7"
SAMPLE_PT = 17
ROW_PT = 10
EDGE_PT = 5
RIGHT_PT = WIDTH_PT - EDGE_RIGHT_PT

array LEGEND_X[40]
array LEGEND_ROW[40]
x = EDGE_PT
row = 0
do for [n = 1:legend] {
    width = SAMPLE_PT + 3 + CHARACTER_PT * strlen(LEGEND_NAME[n])
    if (x > EDGE_PT && x + width > WIDTH_PT - EDGE_PT) {
        row = row + 1
        x = EDGE_PT
    }
    LEGEND_X[n] = x
    LEGEND_ROW[n] = row
    x = x + width + 7
}
LEGEND_PT = legend > 0 ? (row + 1) * ROW_PT : 0
TITLE_PT = TITLE eq "" ? 0 : 12
HEIGHT_PT = PLOT_PT + LEGEND_PT + TITLE_PT + 4

# `linewidth 1` is 0.5 pt in all formats. SVG: two units a point, to be readable in a browser; a fixed name, no date
# and no path, so that the same records give the same bytes. PNG: 300 dots an inch. Cairo's terminals take an inch for
# 96 points, hence 0.75.
if (FORMAT eq "pdf") {
    set terminal pdfcairo noenhanced size WIDTH_PT/72.0,HEIGHT_PT/72.0 font FONT.",8" fontscale 0.75 \
        linewidth 1 dashlength 0.7 rounded
}
if (FORMAT eq "svg") {
    set terminal svg noenhanced size 2*WIDTH_PT,2*HEIGHT_PT fixed font FONT.",16" \
        linewidth 1 dashlength 1 rounded name "coppice" background "white"
}
if (FORMAT eq "png") {
    set terminal pngcairo noenhanced size int(WIDTH_PT*300/72.0),int(HEIGHT_PT*300/72.0) font FONT.",8" \
        fontscale 0.75*300/72.0 linewidth 150/72.0 pointscale 0.75*300/72.0 dashlength 0.36 rounded background "white"
}
set output OUT

screen_x(pt) = pt / real(WIDTH_PT)
screen_y(pt_from_top) = 1 - pt_from_top / real(HEIGHT_PT)

unset key
do for [n = 1:legend] {
    y = screen_y(TITLE_PT + 2 + (LEGEND_ROW[n] + 0.5) * ROW_PT)
    left = screen_x(LEGEND_X[n])
    right = screen_x(LEGEND_X[n] + SAMPLE_PT)
    style = LEGEND_STYLE[n]
    if (LEGEND_FORM[n] eq "band") {
        half = ROW_PT * 0.3 / HEIGHT_PT
        set object 300 + n rectangle from screen left,y - half to screen right,y + half fillstyle solid noborder \
            fillcolor rgb BAND_COLOUR
    }
    if (LEGEND_FORM[n] eq "line" || LEGEND_FORM[n] eq "linepoint") {
        set arrow from screen left,y to screen right,y nohead linestyle style
    }
    if (LEGEND_FORM[n] eq "point" || LEGEND_FORM[n] eq "linepoint") {
        set label "" at screen (left + right) / 2,y point linestyle style
    }
    name = LEGEND_NAME[n]
    set label name at screen right + screen_x(3),y left font SMALL
}
if (TITLE ne "") {
    set label TITLE at screen 0.5,screen_y(7) center
}
# Where the plot may begin, below legend and title.
TOP = screen_y(TITLE_PT + LEGEND_PT + 5)
BOTTOM = 27.0 / HEIGHT_PT
set tmargin at screen TOP
set lmargin at screen screen_x(LEFT_PT)
set rmargin at screen screen_x(RIGHT_PT)
set bmargin at screen BOTTOM
set label YLABEL at screen screen_x(8),(TOP + BOTTOM) / 2 center rotate by 90
set label XLABEL at screen screen_x((LEFT_PT + RIGHT_PT) / 2.0),screen_y(HEIGHT_PT - 6) center

set border 3 linewidth 1 linecolor rgb "black"
set tics nomirror out scale 0.6,0.3 font SMALL
X_TIC_OFFSET = FORMAT eq "svg" ? 0.4 : 0   # this terminal sets them lower than the others
set xtics offset 0,X_TIC_OFFSET
set grid xtics ytics linetype 1 linewidth 0.6 linecolor rgb "#d8d8d8"
