// Package progress says how far work is, in one way for whatever takes long:
// building states, solving, sampling, playing, or the run of a tool.
package progress

// Progress is how far a piece of work is.
type Progress struct {
	Property string // that is checked; empty while the state space is built
	Detail   string // what there is to say besides, for now
	// Done is how much is done, of Target; a Target of 0 is unknown. Unit says what is counted.
	Done, Target int64
	Unit         Unit
	// Estimate is the value so far, and HalfWidth what is not yet known about
	// it; both are 0 when Done is, and HalfWidth is 0 when there is none yet.
	Estimate, HalfWidth float64
	Rate                float64 // units per second, 0 if it is not known
}

// Unit is what a Progress counts.
type Unit string

// The units.
const (
	Samples    Unit = "samples"
	States     Unit = "states"
	Iterations Unit = "iterations"
	Percent    Unit = "percent"
	Games      Unit = "games"
	Shards     Unit = "shards"
)
