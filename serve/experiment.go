package serve

import (
	"context"
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
	// Engines run one after another; an empty list means the embedded engine.
	Engines []string `json:"engines"`
}

// experiment checks a property for every valuation of its constants, and sends each verdict as
// soon as it is known.
func (h *API) experiment(ctx context.Context, question *experimentQuestion, response *reply) (any, error) {
	engines := question.Engines
	if len(engines) == 0 {
		engines = []string{""}
	}
	if len(question.Select) != 1 {
		return nil, badf("%d properties, want one", len(question.Select))
	}
	runs, err := h.runs(ctx, &question.checkQuestion, response)
	if err != nil {
		return nil, err
	}
	numPoints := 0
	for _, name := range engines {
		engine, err := h.engine(name)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			for i := range run.instances {
				if err := h.point(ctx, engine, &run, i, response); err != nil {
					return nil, err
				}
				numPoints++
			}
		}
	}
	return map[string]any{"points": numPoints}, nil
}

// point checks instance i of a run, and sends its verdict.
func (h *API) point(ctx context.Context, engine runner.Engine, run *run, i int, response *reply) error {
	singlePlan, err := run.plan.Part(nil, run.instances[i].consts())
	if err != nil {
		return err
	}
	verdicts, err := engine.Check(ctx, singlePlan)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for j := range verdicts {
		response.part("point", run.verdict(i, &verdicts[j]))
	}
	pause()
	return nil
}

type strategiesQuestion struct {
	board
	Strategies []string `json:"strategies"`
	Samples    int64    `json:"samples"`
	Seed       uint64   `json:"seed"`
	By         string   `json:"by"`
	All        bool     `json:"all"`
	On         bool     `json:"on"`
}

// row holds the results of a strategy.
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
	Lower result.JSONNumber `json:"lower"`
	Upper result.JSONNumber `json:"upper"`
}

// reach is the fraction of games that were lost before a tile was reached.
type reach struct {
	Tile int  `json:"tile"`
	Lost span `json:"lost"`
}

const (
	maxGames      = 1_000_000
	maxStrategies = 12
	confidence    = 0.99
)

// strategies plays the strategies against each other, and sends the table repeatedly.
func (h *API) strategies(ctx context.Context, question *strategiesQuestion, response *reply) (any, error) {
	goal, err := exponent(question.Max)
	if err != nil {
		return nil, err
	}
	rules, _, err := question.rules()
	if err != nil {
		return nil, err
	}
	if question.Samples < 1 || question.Samples > maxGames || len(question.Strategies) > maxStrategies {
		return nil, badf("%d games of %d strategies, want 1 to %d of 2 to %d", question.Samples, len(question.Strategies), maxGames, maxStrategies)
	}
	opt := play.CompareOptions{
		Match: play.Match{Shape: rules.Shape(), Goal: goal, PlayOn: question.On, Seed: question.Seed}, By: play.Criterion(question.By),
		Games: question.Samples, Confidence: confidence, All: question.All, Progress: response.progress,
		OnLook: func(contest *play.Contest) { response.part("table", tableOf(contest, true)); pause() },
	}
	for _, spec := range question.Strategies {
		parsed, err := h.strategy(spec, strategy.Setting{Rules: rules, Max: goal})
		if err != nil {
			return nil, err
		}
		opt.Strategies = append(opt.Strategies, parsed)
	}
	contest, err := play.Compare(ctx, opt)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return map[string]any{"table": tableOf(contest, contest.Sequential), "end": contest.End.String(), "seconds": contest.Elapsed.Seconds(), "warnings": contest.Warnings}, nil
}

// tableOf returns a table of the results so far. If sequential is true, its intervals are valid
// although the results decide the number of games.
func tableOf(contest *play.Contest, sequential bool) any {
	var rows []row
	for i := range contest.Players {
		player := &contest.Players[i]
		tableRow := row{Strategy: player.Strategy, Best: player.Best, Worst: player.Worst, Reached: []reach{}}
		tableRow.Won = shareOf(player.Won, sequential)
		tableRow.Score, tableRow.Moves = meanOf(player.Score, sequential), meanOf(player.Moves, sequential)
		for exponent := 7; exponent <= 11; exponent++ {
			reached := player.Reached(exponent)
			reached.K = reached.N - reached.K
			tableRow.Reached = append(tableRow.Reached, reach{game.Value(exponent), shareOf(reached, sequential)})
		}
		rows = append(rows, tableRow)
	}
	return map[string]any{"samples": contest.Games, "asked": contest.Asked, "looks": contest.Looks, "rows": rows, "confidence": confidence}
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
		return span{Value: result.JSONNumber(m.Mean()), Lower: result.JSONNumber(m.Mean()), Upper: result.JSONNumber(m.Mean())}
	}
	return span{result.JSONNumber(m.Mean()), result.JSONNumber(i.Lo), result.JSONNumber(i.Hi)}
}

type publishedQuestion struct{}

// published returns the points of Figure 3.25 of the thesis.
func (h *API) published(context.Context, *publishedQuestion, *reply) (any, error) {
	type point struct {
		Strategy     string  `json:"strategy"`
		Spec         string  `json:"spec"`
		Tile         int     `json:"tile"`
		Loss         float64 `json:"loss"`
		HalfWidth    float64 `json:"half_width"`
		Reproducible bool    `json:"reproducible"`
	}
	points := []point{}
	for _, cell := range modelgen.PublishedTable() {
		points = append(points, point{cell.Strategy, cell.Policy.String(), cell.Max, cell.Loss, cell.HalfWidth, cell.Reproducible})
	}
	return map[string]any{"points": points, "note": modelgen.PublishedNote, "samples": modelgen.PublishedSamples, "confidence": modelgen.PublishedConfidence}, nil
}

// pause lets other goroutines run: in a browser no message, such as a cancellation, is received
// during a computation.
func pause() { time.Sleep(time.Millisecond) }
