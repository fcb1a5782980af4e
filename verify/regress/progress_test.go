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
	w := &progress{startTimes: make(map[*testRun]time.Time), numRuns: 2, notify: func(done, total int, slowest string) { said = append(said, slowest) }}
	now := time.Now()
	storm := &EngineConfig{EngineConfig: runner.EngineConfig{Engine: bridge.Storm(nil, bridge.Options{})}}
	slow := &testRun{loadedTest: &loadedTest{Test: &Test{Run: suite.Run{Model: "slow.prism", Props: "slow.props"}}, options: &Options{}}, engine: storm}
	quick := &testRun{loadedTest: &loadedTest{Test: &Test{Run: suite.Run{Model: "quick.prism"}}, options: &Options{}}, engine: storm}
	w.startTimes[slow], w.startTimes[quick] = now.Add(-75*time.Second), now.Add(-time.Second)
	w.notifyCaller(now)
	w.end(slow)
	if len(said) != 2 || said[0] != "storm on slow.prism slow.props has run for 1m15s" || said[1] != "" {
		t.Errorf("%q", said)
	}
}

// TestToolTime: runs of other programs have a limit, and those of the embedded engine have none,
// unless one is asked for.
func TestToolTime(t *testing.T) {
	storm := &EngineConfig{EngineConfig: runner.EngineConfig{Engine: bridge.Storm(nil, bridge.Options{})}}
	for _, c := range []struct {
		unit *testRun
		want time.Duration
	}{
		{&testRun{loadedTest: &loadedTest{Test: &Test{}, options: &Options{}}, engine: storm}, ToolTime},
		{&testRun{loadedTest: &loadedTest{Test: &Test{}, options: &Options{Time: time.Second}}, engine: storm}, time.Second},
		{&testRun{loadedTest: &loadedTest{Test: &Test{}, options: &Options{}}, engine: &EngineConfig{}}, 0},
	} {
		if got := c.unit.timeLimit(); got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
