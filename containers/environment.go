package containers

import (
	"context"
	"maps"
	"net"
	"os"
	"slices"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// Prepare tells testcontainers-go what it has to know of this machine. It has no
// other way to be told than environment variables, which it reads once, and a
// logger, both of the whole process; so a program calls Prepare once, before
// Connect and before anything runs beside it, with os.LookupEnv and os.Setenv.
// The Docker context that docker would use is among what it has to know.
// Variables that are set already stay as they are, and its messages, which are
// meant for tests, go nowhere.
func Prepare(ctx context.Context, lookup func(string) (string, bool), set func(string, string) error) error {
	log.SetDefault(log.NewNoopLogger())
	env, err := endpoint(lookup)
	if err != nil {
		return err
	}
	if err := setAll(env, set); err != nil {
		return err
	}
	return setAll(environment(ctx, lookup), set)
}

func setAll(env map[string]string, set func(string, string) error) error {
	for _, k := range slices.Sorted(maps.Keys(env)) {
		if err := set(k, env[k]); err != nil {
			return err
		}
	}
	return nil
}

// environment returns the variables that are needed here and that lookup does
// not know:
//
//   - TESTCONTAINERS_RYUK_DISABLED when Ryuk's image is not there: it would be
//     pulled, and without a network nothing could be started. Ryuk removes the
//     containers of a process that was killed; without it they end with their
//     process and are removed by the engine, which is enough.
//   - TESTCONTAINERS_HOST_OVERRIDE where this looks like the inside of a container
//     (/.dockerenv) and the engine runs beside us all the same, as its bridge
//     shows: testcontainers-go would look for Ryuk at the default gateway.
func environment(ctx context.Context, lookup func(string) (string, bool)) map[string]string {
	const ryuk, override = "TESTCONTAINERS_RYUK_DISABLED", "TESTCONTAINERS_HOST_OVERRIDE"
	env := make(map[string]string)
	if _, set := lookup(ryuk); !set && !hasRyuk(ctx) {
		env[ryuk] = "true"
	}
	_, inside := os.Stat("/.dockerenv")
	_, beside := net.InterfaceByName("docker0")
	if _, set := lookup(override); !set && inside == nil && beside == nil {
		env[override] = "127.0.0.1"
	}
	return env
}

// hasRyuk asks without testcontainers-go, which would read its settings.
func hasRyuk(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c, err := client.New(client.FromEnv)
	if err != nil {
		return false
	}
	defer c.Close()
	//lint:ignore SA1019 the name has no other place that is exported
	_, err = c.ImageInspect(ctx, testcontainers.ReaperDefaultImage)
	return err == nil
}
