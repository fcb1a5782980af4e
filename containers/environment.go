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

// setAll sets environment variables in the order of their names.
func setAll(variables map[string]string, set func(string, string) error) error {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if err := set(name, variables[name]); err != nil {
			return err
		}
	}
	return nil
}

// testcontainersEnvironment returns environment variables that configure testcontainers-go. It omits variables that are already set.
//
// It returns TESTCONTAINERS_RYUK_DISABLED if Ryuk's image is not on the machine. Otherwise the library would pull it, and without a network nothing
// could start. Ryuk removes the containers of a killed process. Without Ryuk they still end with their process, and the engine removes them.
//
// It returns TESTCONTAINERS_HOST_OVERRIDE if this process seems to run in a container (/.dockerenv) and the engine's bridge is on the same host.
// Otherwise the library would look for Ryuk at the default gateway.
func testcontainersEnvironment(ctx context.Context, lookup func(string) (string, bool)) map[string]string {
	const ryuk, override = "TESTCONTAINERS_RYUK_DISABLED", "TESTCONTAINERS_HOST_OVERRIDE"
	env := make(map[string]string)
	if _, set := lookup(ryuk); !set && !hasRyuk(ctx) {
		env[ryuk] = "true"
	}
	_, notInContainer := os.Stat("/.dockerenv")
	_, noBridge := net.InterfaceByName("docker0")
	if _, set := lookup(override); !set && notInContainer == nil && noBridge == nil {
		env[override] = "127.0.0.1"
	}
	return env
}

// hasRyuk reports whether Ryuk's image is on the machine. It does not use testcontainers-go, which would read its settings too early.
func hasRyuk(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	dockerClient, err := client.New(client.FromEnv)
	if err != nil {
		return false
	}
	defer dockerClient.Close()
	//lint:ignore SA1019 the name has no other place that is exported
	_, err = dockerClient.ImageInspect(ctx, testcontainers.ReaperDefaultImage)
	return err == nil
}
