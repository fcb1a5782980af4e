package report

import (
	"bytes"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/result"
)

// writeListings prints the states that filter(print, ...) lists. Like PRISM, it prints a line number:(valuation)=value for each state.
func writeListings(w io.Writer, format table.Format, verdicts []result.Verdict, opt table.Options) error {
	var text bytes.Buffer
	for i := range verdicts {
		verdict := &verdicts[i]
		if err := writePoints(&text, format, verdict, opt); err != nil {
			return err
		}
		writeRegions(&text, format, verdict)
		writeQuantiles(&text, format, verdict, opt)
		for _, listing := range verdict.Listings {
			zerosNote := "non-zero only"
			if listing.Zeros {
				zerosNote = "including zeros"
			}
			fmt.Fprintf(&text, "\nResults (%s) for %s%s:\n", zerosNote, propertyText(verdict), withConstants(verdict))
			if format == table.Markdown {
				text.WriteString("\n")
			}
			for _, entry := range listing.Values {
				if format == table.Markdown {
					text.WriteString("    ")
				}
				fmt.Fprintf(&text, "%d:%s=%s\n", entry.State, entry.Valuation, stateText(entry.Value, opt))
			}
			if listing.Left > 0 {
				fmt.Fprintf(&text, "and %d more, which are not listed\n", listing.Left)
			}
		}
	}
	_, err := w.Write(text.Bytes())
	return err
}

// writeRegions prints the regions of parameter values in which a property was checked, with the answer in each: true, false, or ? for unknown.
func writeRegions(text *bytes.Buffer, format table.Format, verdict *result.Verdict) {
	if len(verdict.Regions) == 0 {
		return
	}
	fmt.Fprintf(text, "\nRegions for %s%s:\n", propertyText(verdict), withConstants(verdict))
	indent := ""
	if format == table.Markdown {
		text.WriteString("\n")
		indent = "    "
	}
	for _, region := range verdict.Regions {
		holds := "?"
		if region.Holds != nil {
			holds = strconv.FormatBool(*region.Holds)
		}
		var bounds []string
		for _, parameter := range region.Bounds {
			bounds = append(bounds, parameter.String()+decimalInterval(parameter))
		}
		fmt.Fprintf(text, "%s%s: %s\n", indent, strings.Join(bounds, ", "), holds)
	}
}

// maxReadableFraction is the length of the longest fraction that is printed without decimals beside it.
const maxReadableFraction = 7

// decimalInterval returns the bounds of a parameter as decimal numbers in parentheses, or "" if both fractions are short.
func decimalInterval(bounds result.ParameterBounds) string {
	if max(len(bounds.Lower), len(bounds.Upper)) <= maxReadableFraction {
		return ""
	}
	return " (about " + decimalOf(bounds.Lower) + " to " + decimalOf(bounds.Upper) + ")"
}

// decimalOf returns a fraction as a decimal number of ten digits.
func decimalOf(fraction string) string {
	exact, ok := new(big.Rat).SetString(fraction)
	if !ok {
		return fraction
	}
	approximation, _ := exact.Float64()
	return strconv.FormatFloat(approximation, 'g', 10, 64)
}

// writeQuantiles prints the quantiles of a reward, one on a line.
func writeQuantiles(text *bytes.Buffer, format table.Format, verdict *result.Verdict, opt table.Options) {
	if len(verdict.Quantiles) == 0 {
		return
	}
	fmt.Fprintf(text, "\nQuantiles of the reward in %s%s; the bounds hold together with %s confidence:\n",
		propertyText(verdict), withConstants(verdict), number.Percent(verdict.Confidence))
	indent := ""
	if format == table.Markdown {
		text.WriteString("\n")
		indent = "    "
	}
	for _, quantile := range verdict.Quantiles {
		scale := number.ScaleOf(float64(quantile.Value), 0)
		tailScale := number.ScaleWithin(float64(quantile.Tail), float64(quantile.TailUpper-quantile.TailLower)/2, opt.MaxDigits())
		fmt.Fprintf(text, "%s%v: %s %s, mean of the largest %.6g%% %s %s\n", indent, quantile.Level,
			scale.Format(float64(quantile.Value), 0), scale.Interval(float64(quantile.Lower), float64(quantile.Upper)), 100*(1-float64(quantile.Level)),
			tailScale.Format(float64(quantile.Tail), 0), tailScale.Interval(float64(quantile.TailLower), float64(quantile.TailUpper)))
	}
}

// withConstants returns the constants, to distinguish the listings of an experiment.
func withConstants(verdict *result.Verdict) string {
	if len(verdict.Constants) == 0 {
		return ""
	}
	return ", " + result.Valuation(verdict.Constants).String()
}

// stateText is a value; an unknown value is a question mark.
func stateText(x result.Value, opt table.Options) string {
	if x.Kind == result.NoValue {
		return "?"
	}
	return valueText(&result.Verdict{Value: x}, opt)
}
