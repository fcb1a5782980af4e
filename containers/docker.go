package containers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// Docker is a connection to a Docker Engine and the session of this process.
// Containers of the session carry its label. It is safe for concurrent use.
type Docker struct {
	provider  *testcontainers.DockerProvider
	client    client.APIClient
	session   session
	leftovers *leftovers
}

// connectLimit is the time limit for the first answer of an engine.
const connectLimit = 10 * time.Second

// Connect finds the Docker Engine as testcontainers-go does (its properties file,
// DOCKER_HOST, the socket of the system or of the user) and checks that it answers.
// If it does not answer within ten seconds, the error is a *result.Failure that
// says what to do. Call Prepare first.
//
// If DOCKER_HOST or a Docker context (see Prepare) names an engine, only that
// engine is used; testcontainers-go would fall back to the local socket.
func Connect(ctx context.Context) (*Docker, error) {
	host := os.Getenv("DOCKER_HOST")
	if host != "" {
		if err := checkReachable(ctx, host); err != nil {
			return nil, err
		}
	}
	dockerProvider, err := provider(ctx)
	if absent, ok := errors.AsType[noEngine](err); ok && host != "" {
		return nil, absent.Failure
	}
	if err != nil {
		return nil, err
	}
	if used := dockerProvider.Client().DaemonHost(); host != "" && used != host {
		return nil, errors.Join(failure("DOCKER_HOST says %s, and testcontainers-go uses %s; see ~/.testcontainers.properties", host, used), dockerProvider.Close())
	}
	return open(ctx, dockerProvider)
}

// open returns a connection with the provider and checks that its engine answers.
func open(ctx context.Context, dockerProvider *testcontainers.DockerProvider) (*Docker, error) {
	docker := &Docker{provider: dockerProvider, client: dockerProvider.Client(), session: newSession(), leftovers: &leftovers{}}
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	if _, err := docker.client.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		return nil, unreachable(err)
	}
	return docker, nil
}

// provider returns a provider of testcontainers-go. The library takes no context and may wait for an engine that does not answer. So provider stops
// waiting after connectLimit, or when ctx ends. It returns an error where the library panics because the engine stops.
func provider(ctx context.Context) (*testcontainers.DockerProvider, error) {
	type answer struct {
		provider *testcontainers.DockerProvider
		err      error
	}
	answers := make(chan answer, 1)
	go func() {
		defer func() {
			if recovered := recover(); recovered != nil {
				answers <- answer{err: fmt.Errorf("%v", recovered)}
			}
		}()
		created, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(log.NewNoopLogger()), testcontainers.WithDefaultBridgeNetwork(testcontainers.Bridge))
		if err != nil {
			err = noEngine{unreachable(err)}
		}
		answers <- answer{created, err}
	}()
	select {
	case answered := <-answers:
		if _, ok := errors.AsType[noEngine](answered.err); answered.err != nil && !ok {
			return nil, unreachable(answered.err)
		}
		return answered.provider, answered.err
	case <-time.After(connectLimit):
		return nil, unreachable(fmt.Errorf("no answer in %v", connectLimit))
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close removes the containers that could not be removed before, and closes the
// connection. Pools and other containers must be closed by their owners first.
func (d *Docker) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), removeLimit)
	defer cancel()
	var errs []error
	for _, id := range d.leftovers.takeAll() {
		errs = append(errs, d.remove(ctx, id))
	}
	return errors.Join(append(errs, d.client.Close())...)
}

// shuttingDown reports whether the engine accepts no new connections. An engine that shuts down still answers on open connections while it stops its
// containers.
func (d *Docker) shuttingDown(ctx context.Context) bool {
	_ = d.client.Close() // only closes idle connections
	_, err := d.client.Ping(ctx, client.PingOptions{})
	return err != nil && noAnswer(err)
}

// Engine describes a Docker Engine.
type Engine struct {
	Version, API string
	System       string // operating system of its machine
	CPUs         int
	Memory       int64 // bytes
	Host         string
}

// Engine returns the description of the connected engine.
func (d *Docker) Engine(ctx context.Context) (Engine, error) {
	version, err := d.client.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return Engine{}, classify("ask Docker for its version", err)
	}
	info, err := d.client.Info(ctx, client.InfoOptions{})
	if err != nil {
		return Engine{}, classify("ask Docker about its machine", err)
	}
	return Engine{
		Version: version.Version, API: version.APIVersion,
		System: info.Info.OperatingSystem, CPUs: info.Info.NCPU, Memory: info.Info.MemTotal,
		Host: d.client.DaemonHost(),
	}, nil
}
