package serve

import (
	"context"

	"tilecheck/result"
	"tilecheck/result/agree"
)

// agreementQuestion has the results of experiments that are shown together.
type agreementQuestion struct {
	Series []agreementSeries `json:"series"`
}

// agreementSeries has the results of one engine in one experiment.
type agreementSeries struct {
	Name    string          `json:"name"`
	Digest  string          `json:"digest"` // see digestOf
	Results []result.Record `json:"results"`
}

// disagreement says that two series contradict each other.
type disagreement struct {
	Property  string           `json:"property"`
	Constants result.Valuation `json:"constants,omitempty"`
	First     string           `json:"first"` // the names of the series
	Second    string           `json:"second"`
	Basis     agree.Basis      `json:"basis"`
	Reason    string           `json:"reason"`
}

// maxCompared is the largest number of results that are compared with each other.
const maxCompared = 2 * maxResults

// agreement compares the results of several series, and returns the pairs that contradict each other. It compares two results if they are about the
// same property and constants of the same texts.
func (h *API) agreement(ctx context.Context, question *agreementQuestion, _ *reply) (any, error) {
	type answer struct {
		series  string
		verdict *result.Verdict
	}
	answersAbout := map[string][]answer{} // by digest, property and constants
	disagreements := []disagreement{}
	compared := 0
	for _, series := range question.Series {
		for i := range series.Results {
			if compared++; compared > maxCompared {
				return nil, badf("more than %d results to compare, want fewer", maxCompared)
			}
			verdict, err := series.Results[i].Verdict()
			if err != nil {
				return nil, badRequest{err}
			}
			key := series.Digest + "\x00" + verdict.Property + "\x00" + result.Valuation(verdict.Constants).String()
			compareQuestion := agree.Ask(verdict.Property, verdict.Constants)
			for _, other := range answersAbout[key] {
				outcome := agree.Verdicts(other.series, other.verdict, series.Name, verdict, compareQuestion, agree.Options{})
				if outcome.Relation == agree.Different {
					disagreements = append(disagreements, disagreement{verdict.Property, verdict.Constants, other.series, series.Name, outcome.Basis, outcome.Reason})
				}
			}
			answersAbout[key] = append(answersAbout[key], answer{series.Name, verdict})
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return map[string]any{"disagreements": disagreements}, nil
}
