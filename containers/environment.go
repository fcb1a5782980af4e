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

// Prepare configures testcontainers-go for this machine and for the Docker context
// that the docker command would use. The library is configured by environment
// variables, which it reads once, and by a global logger. A program must therefore
// call Prepare once, with os.LookupEnv and os.Setenv, before Connect and before
// other goroutines run. Prepare does not change variables that are set, and
// discards the library's log messages.
func Prepare(ctx context.Context, lookup func(string) (string, bool), set func(string, string) error) error {
	log.SetDefault(log.NewNoopLogger())
	env, err := dockerEnvironment(lookup)
	if err != nil {
		return err
	}
	if err := setAll(env, set); err != nil {
		return err
	}
	return setAll(testcontainersEnvironment(ctx, lookup), set)
}

func setAll(env map[string]string, set func(string, string) error) error {
	for _, k := range slices.Sorted(maps.Keys(env)) {
		if err := set(k, env[k]); err != nil {
			return err
		}
	}
	return nil
}

// testcontainersEnvironment returns the variables to set among those that lookup
// does not find:
//
//   - TESTCONTAINERS_RYUK_DISABLED if Ryuk's image is not on the machine. The
//     library would pull it, and without a network nothing could start. Ryuk removes
//     the containers of a killed process. Without Ryuk they still end with their
//     process, and the engine removes them.
//   - TESTCONTAINERS_HOST_OVERRIDE if this process seems to run in a container
//     (/.dockerenv) and the engine's bridge is on the same host: the library would
//     look for Ryuk at the default gateway.
func testcontainersEnvironment(ctx context.Context, lookup func(string) (string, bool)) map[string]string {
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

// hasRyuk checks for Ryuk's image without testcontainers-go, which would read its settings.
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
