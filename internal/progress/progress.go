// Package progress defines one report of progress for all long work: building states, solving, sampling, playing, and
// running tools.
package progress

// Progress is the state of a piece of work.
type Progress struct {
	Property string // the property that is checked; empty while the state space is built
	Detail   string // further text to show
	// Done and Target count in Unit; a Target of 0 means that it is unknown.
	Done, Target int64
	Unit         Unit
	// Estimate is the estimate so far and HalfWidth the half-width of its confidence interval. Both are 0 if Done is 0, and HalfWidth is 0 if
	// there is no interval yet.
	Estimate, HalfWidth float64
	Rate                float64 // units per second, 0 if unknown
}

// Unit is the unit of Done and Target.
type Unit string

// The units.
const (
	Samples    Unit = "samples"
	States     Unit = "states"
	Iterations Unit = "iterations"
	Steps      Unit = "steps"
	Percent    Unit = "percent"
	Games      Unit = "games"
	Shards     Unit = "shards"
)
