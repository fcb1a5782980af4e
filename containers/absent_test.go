package containers

import (
	"errors"
	"fmt"
	"os"
	"testing"
)

// TestAbsent: that nobody has Docker here is not that an engine does not answer,
// or is named and is not there.
func TestAbsent(t *testing.T) {
	none := noEngine{unreachable(errors.New("no socket"))}
	if !Absent(fmt.Errorf("clean: %w", none)) || none.Error() != unreachable(errors.New("no socket")).Error() {
		t.Errorf("%v: not absent", none)
	}
	t.Setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
	_, err := Connect(t.Context())
	for _, err := range []error{err, unreachable(os.ErrPermission), os.ErrNotExist, nil} {
		if Absent(err) {
			t.Errorf("%v: absent", err)
		}
	}
	if err == nil {
		t.Error("an engine answers at a socket that there is not")
	}
}
