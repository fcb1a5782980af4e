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

// agreement returns where series contradict each other. It compares results about the same property and constants of the same texts.
func (h *API) agreement(ctx context.Context, q *agreementQuestion, _ *reply) (any, error) {
	type answer struct {
		series  string
		verdict *result.Verdict
	}
	before := map[string][]answer{} // by what the results are about
	disagreements := []disagreement{}
	compared := 0
	for _, s := range q.Series {
		for i := range s.Results {
			if compared++; compared > maxCompared {
				return nil, badf("more than %d results to compare, want fewer", maxCompared)
			}
			v, err := s.Results[i].Verdict()
			if err != nil {
				return nil, badRequest{err}
			}
			about := s.Digest + "\x00" + v.Property + "\x00" + result.Valuation(v.Constants).String()
			question := agree.Ask(v.Property, v.Constants)
			for _, other := range before[about] {
				outcome := agree.Verdicts(other.series, other.verdict, s.Name, v, question, agree.Options{})
				if outcome.Relation == agree.Different {
					disagreements = append(disagreements, disagreement{v.Property, v.Constants, other.series, s.Name, outcome.Basis, outcome.Reason})
				}
			}
			before[about] = append(before[about], answer{s.Name, v})
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return map[string]any{"disagreements": disagreements}, nil
}
