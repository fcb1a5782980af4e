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

// Docker is a connection to a Docker Engine, and the session of this process
// there: what it starts is labelled with it and is gone when it is closed.
// It is safe for concurrent use.
type Docker struct {
	provider *testcontainers.DockerProvider
	client   client.APIClient
	session  session
	left     *leftovers
}

// connectLimit bounds how long an engine may take to answer at all.
const connectLimit = 10 * time.Second

// Connect finds the Docker Engine as testcontainers-go does (its properties
// file, DOCKER_HOST, the socket of the system or of the user) and asks whether
// it is there. When it is not, the error is a *result.Failure that says what to
// do, after ten seconds at most. Prepare comes before.
//
// An engine that DOCKER_HOST names, or a context of docker's by way of Prepare,
// is used or none is: testcontainers-go would go on to the local socket.
func Connect(ctx context.Context) (*Docker, error) {
	host := os.Getenv("DOCKER_HOST")
	if host != "" {
		if err := reach(ctx, host); err != nil {
			return nil, err
		}
	}
	p, err := provider(ctx)
	if a, ok := errors.AsType[absent](err); ok && host != "" {
		return nil, a.Failure
	}
	if err != nil {
		return nil, err
	}
	if used := p.Client().DaemonHost(); host != "" && used != host {
		return nil, errors.Join(failure("DOCKER_HOST says %s, and testcontainers-go uses %s; see ~/.testcontainers.properties", host, used), p.Close())
	}
	return open(ctx, p)
}

// open makes a Docker of a provider whose engine answers.
func open(ctx context.Context, p *testcontainers.DockerProvider) (*Docker, error) {
	d := &Docker{provider: p, client: p.Client(), session: newSession(), left: &leftovers{}}
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	if _, err := d.client.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		return nil, unreachable(err)
	}
	return d, nil
}

// provider makes a provider of testcontainers-go. It asks engines that may not
// answer and takes no context, so it is given a time; and where an engine goes
// away between two of its questions it panics, which is no reason to fall.
func provider(ctx context.Context) (*testcontainers.DockerProvider, error) {
	type answer struct {
		provider *testcontainers.DockerProvider
		err      error
	}
	answers := make(chan answer, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				answers <- answer{err: fmt.Errorf("%v", r)}
			}
		}()
		p, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(log.NewNoopLogger()), testcontainers.WithDefaultBridgeNetwork(testcontainers.Bridge))
		if err != nil {
			err = absent{unreachable(err)}
		}
		answers <- answer{p, err}
	}()
	select {
	case a := <-answers:
		if _, ok := errors.AsType[absent](a.err); a.err != nil && !ok {
			return nil, unreachable(a.err)
		}
		return a.provider, a.err
	case <-time.After(connectLimit):
		return nil, unreachable(fmt.Errorf("no answer in %v", connectLimit))
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close removes what could not be removed while the engine was away, and ends
// the connection. Pools and containers are closed by their owners before.
func (d *Docker) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), removeLimit)
	defer cancel()
	var errs []error
	for _, id := range d.left.take() {
		errs = append(errs, d.remove(ctx, id))
	}
	return errors.Join(append(errs, d.client.Close())...)
}

// leaving reports whether the engine takes no new connections. One that shuts
// down still answers on old ones while it stops its containers.
func (d *Docker) leaving(ctx context.Context) bool {
	_ = d.client.Close() // ends the connections that nobody uses, and nothing else
	_, err := d.client.Ping(ctx, client.PingOptions{})
	return err != nil && lost(err)
}

// Engine is what a Docker Engine says of itself.
type Engine struct {
	Version, API string
	System       string // of the machine it runs on
	CPUs         int
	Memory       int64 // bytes
	Host         string
}

// Engine asks the engine what it is.
func (d *Docker) Engine(ctx context.Context) (Engine, error) {
	v, err := d.client.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return Engine{}, classify("ask Docker for its version", err)
	}
	i, err := d.client.Info(ctx, client.InfoOptions{})
	if err != nil {
		return Engine{}, classify("ask Docker about its machine", err)
	}
	return Engine{
		Version: v.Version, API: v.APIVersion,
		System: i.Info.OperatingSystem, CPUs: i.Info.NCPU, Memory: i.Info.MemTotal,
		Host: d.client.DaemonHost(),
	}, nil
}
