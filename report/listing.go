package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/result"
)

// writeListings prints the states of filter(print, ...), one on a line as PRISM does: number:(valuation)=value.
func writeListings(w io.Writer, f table.Format, verdicts []result.Verdict, opt table.Options) error {
	var b bytes.Buffer
	for i := range verdicts {
		v := &verdicts[i]
		writeRegions(&b, f, v)
		writeQuantiles(&b, f, v, opt)
		for _, l := range v.Listings {
			what := "non-zero only"
			if l.Zeros {
				what = "including zeros"
			}
			fmt.Fprintf(&b, "\nResults (%s) for %s%s:\n", what, propertyText(v), withConstants(v))
			if f == table.Markdown {
				b.WriteString("\n")
			}
			for _, x := range l.Values {
				if f == table.Markdown {
					b.WriteString("    ")
				}
				fmt.Fprintf(&b, "%d:%s=%s\n", x.State, x.Valuation, stateText(x.Value, opt))
			}
			if l.Left > 0 {
				fmt.Fprintf(&b, "and %d more, which are not listed\n", l.Left)
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeRegions prints the regions of the parameters in which a property was decided, one on a line as PRISM prints values by region.
func writeRegions(b *bytes.Buffer, f table.Format, v *result.Verdict) {
	if len(v.Regions) == 0 {
		return
	}
	fmt.Fprintf(b, "\nRegions for %s%s:\n", propertyText(v), withConstants(v))
	indent := ""
	if f == table.Markdown {
		b.WriteString("\n")
		indent = "    "
	}
	for _, region := range v.Regions {
		holds := "?"
		if region.Holds != nil {
			holds = strconv.FormatBool(*region.Holds)
		}
		fmt.Fprintf(b, "%s%s: %s\n", indent, region.Parameters, holds)
	}
}

// writeQuantiles prints the quantiles of a reward, one on a line.
func writeQuantiles(b *bytes.Buffer, f table.Format, v *result.Verdict, opt table.Options) {
	if len(v.Quantiles) == 0 {
		return
	}
	fmt.Fprintf(b, "\nQuantiles of the reward in %s%s; the bounds hold together with %s confidence:\n", propertyText(v), withConstants(v), number.Percent(v.Confidence))
	indent := ""
	if f == table.Markdown {
		b.WriteString("\n")
		indent = "    "
	}
	for _, q := range v.Quantiles {
		quantile := number.Of(float64(q.Value), 0)
		tail := number.To(float64(q.Tail), float64(q.TailUpper-q.TailLower)/2, opt.MaxDigits())
		fmt.Fprintf(b, "%s%v: %s %s, mean of the largest %.6g%% %s %s\n", indent, q.Level,
			quantile.Format(float64(q.Value), 0), quantile.Interval(float64(q.Lower), float64(q.Upper)),
			100*(1-float64(q.Level)), tail.Format(float64(q.Tail), 0), tail.Interval(float64(q.TailLower), float64(q.TailUpper)))
	}
}

// withConstants returns the constants, to distinguish the listings of an experiment.
func withConstants(v *result.Verdict) string {
	if len(v.Constants) == 0 {
		return ""
	}
	return ", " + result.Valuation(v.Constants).String()
}

// stateText is a value; an unknown value is a question mark.
func stateText(x result.Value, opt table.Options) string {
	if x.Kind == result.NoValue {
		return "?"
	}
	return valueText(&result.Verdict{Value: x}, opt)
}
