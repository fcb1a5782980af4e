package regress

import (
	"testing"
	"time"

	"tilecheck/bridge"
	"tilecheck/runner"
	"tilecheck/verify/suite"
)

// TestProgress: the run that has taken longest is named once it has taken long.
func TestProgress(t *testing.T) {
	var said []string
	w := &progress{started: make(map[*unit]time.Time), total: 2, notify: func(done, total int, slowest string) { said = append(said, slowest) }}
	now := time.Now()
	storm := &Entrant{Entrant: runner.Entrant{Engine: bridge.Storm(nil, bridge.Options{})}}
	slow := &unit{subject: &subject{Test: &Test{Run: suite.Run{Model: "slow.prism", Props: "slow.props"}}, opt: &Options{}}, entrant: storm}
	quick := &unit{subject: &subject{Test: &Test{Run: suite.Run{Model: "quick.prism"}}, opt: &Options{}}, entrant: storm}
	w.started[slow], w.started[quick] = now.Add(-75*time.Second), now.Add(-time.Second)
	w.report(now)
	w.end(slow)
	if len(said) != 2 || said[0] != "storm on slow.prism slow.props has run for 1m15s" || said[1] != "" {
		t.Errorf("%q", said)
	}
}

// TestToolTime: runs of other programs have a limit, and those of the embedded engine have none,
// unless one is asked for.
func TestToolTime(t *testing.T) {
	storm := &Entrant{Entrant: runner.Entrant{Engine: bridge.Storm(nil, bridge.Options{})}}
	for _, c := range []struct {
		unit *unit
		want time.Duration
	}{
		{&unit{subject: &subject{Test: &Test{}, opt: &Options{}}, entrant: storm}, ToolTime},
		{&unit{subject: &subject{Test: &Test{}, opt: &Options{Time: time.Second}}, entrant: storm}, time.Second},
		{&unit{subject: &subject{Test: &Test{}, opt: &Options{}}, entrant: &Entrant{}}, 0},
	} {
		if got := c.unit.limit(); got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
