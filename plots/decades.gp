# A logarithmic vertical axis from LOW to HIGH: labels at the powers of ten, and also between them where there are few
# powers of ten. TIC_TEXT 0: without the labels.
margin = HIGH / LOW < 3 ? 3 : 1.5
set yrange [LOW / margin : HIGH * margin]
decades = log10(HIGH / LOW * margin ** 2) - 0.35
labelled = decades < 0.5 ? "2 3 4 5 6 7 8 9" : (decades < 1.7 ? "2 5" : "")
unset ytics
set ytics nomirror out scale 0.6,0.3 font SMALL
set ytics ("" 1)
do for [e = -12:12] {
    power = 10.0 ** e
    text = TIC_TEXT ? sprintf("%g", power) : ""
    set ytics add (text power)
    do for [digit = 2:9] {
        level = strstrt(labelled, sprintf("%d", digit)) > 0 ? 0 : 1
        text = TIC_TEXT && level == 0 ? sprintf("%g", digit * power) : ""
        set ytics add (text digit * power level)
    }
}
