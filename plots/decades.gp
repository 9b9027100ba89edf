# A logarithmic axis, the one that DECADE_AXIS says, from LOW to HIGH: labels, tic_text(value), at the powers of ten, and
# also between them where there are few powers of ten. TIC_TEXT 0: without the labels.
margin = HIGH / LOW < 3 ? 3 : 1.5
eval "set ".DECADE_AXIS."range [LOW / margin : HIGH * margin]"
decades = log10(HIGH / LOW * margin ** 2) - 0.35
labelled = decades < 0.5 ? "2 3 4 5 6 7 8 9" : (decades < 1.7 ? "2 5" : "")
TICS = DECADE_AXIS."tics"
eval "unset ".TICS
eval "set ".TICS." nomirror out scale 0.6,0.3 font SMALL"
eval "set ".TICS.' ("" 1)'
do for [e = -12:12] {
    power = 10.0 ** e
    text = TIC_TEXT ? tic_text(power) : ""
    eval "set ".TICS." add (text power)"
    do for [digit = 2:9] {
        level = strstrt(labelled, sprintf("%d", digit)) > 0 ? 0 : 1
        text = TIC_TEXT && level == 0 ? tic_text(digit * power) : ""
        eval "set ".TICS." add (text digit * power level)"
    }
}
