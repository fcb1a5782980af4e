package serve

import (
	"context"
	"fmt"
	"time"

	"tilecheck/game"
	"tilecheck/game/play"
	"tilecheck/game/strategy"
	"tilecheck/modelgen"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
)

type experimentQuestion struct {
	checkQuestion
	// Engines are asked one after the other; none is the embedded one.
	Engines []string `json:"engines"`
}

// experiment checks a property under every valuation of its constants, and sends each verdict when it is there.
func (h *handler) experiment(ctx context.Context, q *experimentQuestion, out *reply) (any, error) {
	engines := q.Engines
	if len(engines) == 0 {
		engines = []string{""}
	}
	job, _, err := h.question(&q.checkQuestion)
	if err != nil {
		return nil, err
	}
	job.Progress = out.progress
	plan, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, err
	}
	if n := plan.Verdicts(); n > mostPoints {
		return nil, badf("%d points, want %d at most", n, mostPoints)
	}
	n := 0
	for _, name := range engines {
		engine, err := h.engine(name)
		if err != nil {
			return nil, err
		}
		for _, consts := range valuationsOf(plan) {
			part, err := plan.Part(nil, consts)
			if err != nil {
				return nil, err
			}
			verdicts, err := engine.Check(ctx, part)
			if err != nil {
				return nil, err
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for i := range verdicts {
				out.part("point", result.NewRecord(&verdicts[i]))
				n++
			}
			pause()
		}
	}
	return map[string]any{"points": n}, nil
}

// valuationsOf lists the valuations of all constants of a plan of one property, as --const has them.
func valuationsOf(plan *runner.Plan) [][]string {
	var out [][]string
	for model := range plan.Models() {
		for _, t := range plan.Tasks {
			if t.Rejected != nil {
				continue
			}
			for property := range t.Valuations() {
				var consts []string
				for _, c := range runner.Constants(model, property) {
					consts = append(consts, fmt.Sprintf("%s=%s", c.Name, c.Value))
				}
				out = append(out, consts)
			}
		}
	}
	return out
}

type strategiesQuestion struct {
	board
	Strategies []string `json:"strategies"`
	Games      int64    `json:"games"`
	Seed       uint64   `json:"seed"`
	By         string   `json:"by"`
	All        bool     `json:"all"`
	On         bool     `json:"on"`
}

// row is what is known of a strategy.
type row struct {
	Strategy string  `json:"strategy"`
	Best     int     `json:"best"`
	Worst    int     `json:"worst"`
	Won      span    `json:"won"`
	Score    span    `json:"score"`
	Moves    span    `json:"moves"`
	Reached  []reach `json:"reached"`
}

type span struct {
	Value result.JSONNumber `json:"value"`
	Lo    result.JSONNumber `json:"lo"`
	Hi    result.JSONNumber `json:"hi"`
}

// reach is the share of the games that were lost before a tile.
type reach struct {
	Tile int  `json:"tile"`
	Lost span `json:"lost"`
}

const (
	mostGames      = 1_000_000
	mostStrategies = 12
	confidence     = 0.99
)

// strategies plays strategies against each other, and sends the table whenever more is known.
func (h *handler) strategies(ctx context.Context, q *strategiesQuestion, out *reply) (any, error) {
	goal, err := exponent(q.Max)
	if err != nil {
		return nil, err
	}
	rules, _, err := q.rules()
	if err != nil {
		return nil, err
	}
	if q.Games < 1 || q.Games > mostGames || len(q.Strategies) > mostStrategies {
		return nil, badf("%d games of %d strategies, want 1 to %d of 2 to %d", q.Games, len(q.Strategies), mostGames, mostStrategies)
	}
	opt := play.CompareOptions{
		Match: play.Match{Shape: rules.Shape(), Goal: goal, PlayOn: q.On, Seed: q.Seed}, By: play.Criterion(q.By),
		Games: q.Games, Confidence: confidence, All: q.All, Progress: out.progress,
		OnLook: func(c *play.Contest) { out.part("table", tableOf(c, true)); pause() },
	}
	for _, spec := range q.Strategies {
		s, err := h.strategy(spec, strategy.Setting{Rules: rules, Max: goal})
		if err != nil {
			return nil, err
		}
		opt.Strategies = append(opt.Strategies, s)
	}
	c, err := play.Compare(ctx, opt)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return map[string]any{"table": tableOf(c, c.Sequential), "end": c.End.String(), "seconds": c.Elapsed.Seconds(), "warnings": c.Warnings}, nil
}

// tableOf is what the games say so far. Intervals hold however the number of games came about, if they are to.
func tableOf(c *play.Contest, sequential bool) any {
	var rows []row
	for i := range c.Players {
		p := &c.Players[i]
		r := row{Strategy: p.Strategy, Best: p.Best, Worst: p.Worst, Reached: []reach{}}
		r.Won = shareOf(p.Won, sequential)
		r.Score, r.Moves = meanOf(p.Score, sequential), meanOf(p.Moves, sequential)
		for e := 7; e <= 11; e++ {
			b := p.Reached(e)
			b.K = b.N - b.K
			r.Reached = append(r.Reached, reach{game.Value(e), shareOf(b, sequential)})
		}
		rows = append(rows, r)
	}
	return map[string]any{"games": c.Games, "asked": c.Asked, "looks": c.Looks, "rows": rows, "confidence": confidence}
}

func shareOf(b stats.Bernoulli, sequential bool) span {
	i, err := stats.BernoulliInterval(b, confidence, sequential)
	if err != nil {
		i.Lo, i.Hi = 0, 1
	}
	return span{result.JSONNumber(b.Mean()), result.JSONNumber(i.Lo), result.JSONNumber(i.Hi)}
}

func meanOf(m stats.Moments, sequential bool) span {
	i, err := stats.RewardInterval(m, nil, confidence, sequential)
	if err != nil {
		return span{Value: result.JSONNumber(m.Mean()), Lo: result.JSONNumber(m.Mean()), Hi: result.JSONNumber(m.Mean())}
	}
	return span{result.JSONNumber(m.Mean()), result.JSONNumber(i.Lo), result.JSONNumber(i.Hi)}
}

type publishedQuestion struct{}

// published are the points of the thesis's Figure 3.25.
func (h *handler) published(context.Context, *publishedQuestion, *reply) (any, error) {
	type point struct {
		Strategy     string  `json:"strategy"`
		Spec         string  `json:"spec"`
		Max          int     `json:"max"`
		Loss         float64 `json:"loss"`
		HalfWidth    float64 `json:"half_width"`
		Reproducible bool    `json:"reproducible"`
	}
	points := []point{}
	for _, p := range modelgen.PublishedTable() {
		points = append(points, point{p.Strategy, p.Policy.String(), p.Max, p.Loss, p.HalfWidth, p.Reproducible})
	}
	return map[string]any{"points": points, "note": modelgen.PublishedNote, "games": modelgen.PublishedSamples, "confidence": modelgen.PublishedConfidence}, nil
}

// pause lets others speak: in a browser nothing is heard, a wish to end included, while something is computed.
func pause() { time.Sleep(time.Millisecond) }
