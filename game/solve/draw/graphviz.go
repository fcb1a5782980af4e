package draw

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

var (
	//go:embed graphviz.wasm
	graphvizCode []byte
	//go:embed NOTICE
	notice []byte
)

// SVG lays out a graph in Graphviz's language by the method "dot" and returns the picture.
//
// The error is Graphviz's complaint about the text, or that of ctx.
func SVG(ctx context.Context, dot string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g, err := newGraphviz(ctx)
	if err != nil {
		return nil, fmt.Errorf("start graphviz: %w", err)
	}
	svg, err := g.render(ctx, dot)
	if said := strings.TrimSpace(g.stderr.String()); err != nil && said != "" {
		err = errors.New(said)
	}
	if err := errors.Join(err, g.runtime.Close(ctx)); err != nil {
		return nil, fmt.Errorf("draw graph: %w", err)
	}
	return svg, nil
}

// graphviz is a Graphviz that has started. Everything that it allocates is in its memory, and goes with it.
type graphviz struct {
	runtime wazero.Runtime
	module  api.Module
	stderr  *bytes.Buffer
}

// newGraphviz starts a Graphviz without access to anything. Compiling it takes most of the time that a picture takes, a second; where there
// is no compiler, it is interpreted.
func newGraphviz(ctx context.Context) (*graphviz, error) {
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true)
	g := &graphviz{runtime: wazero.NewRuntimeWithConfig(ctx, config), stderr: new(bytes.Buffer)}
	code, err := g.runtime.CompileModule(ctx, graphvizCode)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	if err := g.refuseCallbacks(ctx, code); err != nil {
		return nil, err
	}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, g.runtime); err != nil {
		return nil, err
	}
	g.module, err = g.runtime.InstantiateModule(ctx, code, wazero.NewModuleConfig().WithStderr(g.stderr))
	return g, err
}

// refuseCallbacks provides the functions through which go-graphviz lets plugins be written in Go. There are none, so none is called.
func (g *graphviz) refuseCallbacks(ctx context.Context, code wazero.CompiledModule) error {
	env := g.runtime.NewHostModuleBuilder("env")
	for _, f := range code.ImportedFunctions() {
		if module, name, _ := f.Import(); module == "env" {
			refuse := api.GoFunc(func(context.Context, []uint64) { panic(errors.New("call of " + name)) })
			env.NewFunctionBuilder().WithGoFunction(refuse, f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	_, err := env.Instantiate(ctx)
	return err
}

// render follows Graphviz's manual of its library: a context with its plugins, a graph, its layout, the picture.
func (g *graphviz) render(ctx context.Context, dot string) ([]byte, error) {
	c := &calls{ctx: ctx, graphviz: g}
	plugins := c.plugins()
	gvc := c.call("gvContextPlugins", plugins, 0)
	graph := c.call("agmemread", c.text(dot))
	if c.err == nil && graph == 0 {
		return nil, errors.New("the text is no graph")
	}
	if c.call("gvLayout", gvc, graph, c.text("dot")) != 0 && c.err == nil {
		return nil, errors.New("the graph has no layout")
	}
	out := c.bytes(make([]byte, 8))
	if c.call("gvRenderData", gvc, graph, c.text("svg"), out, out+4) != 0 && c.err == nil {
		return nil, errors.New("the layout has no picture")
	}
	return c.read(c.word(out), c.word(out+4)), c.err
}

// calls is a sequence of calls; after an error nothing more is done, and all results are 0.
type calls struct {
	*graphviz
	ctx context.Context
	err error
}

func (c *calls) call(name string, args ...uint64) uint64 {
	f := c.module.ExportedFunction(name)
	if f == nil && c.err == nil {
		c.err = fmt.Errorf("no function %s", name)
	}
	if c.err != nil {
		return 0
	}
	var results []uint64
	if results, c.err = f.Call(c.ctx, args...); c.err != nil || len(results) == 0 {
		return 0
	}
	return results[0]
}

// bytes copies data into the memory of the machine and returns where it is.
func (c *calls) bytes(data []byte) uint64 {
	at := c.call("malloc", uint64(len(data)))
	if c.err == nil && (at == 0 || !c.module.Memory().Write(uint32(at), data)) {
		c.err = errors.New("out of memory")
	}
	return at
}

// text copies a text and the zero that ends it.
func (c *calls) text(s string) uint64 { return c.bytes(append([]byte(s), 0)) }

func (c *calls) read(at, n uint64) []byte {
	if c.err != nil {
		return nil
	}
	data, ok := c.module.Memory().Read(uint32(at), uint32(n))
	if !ok {
		c.err = errors.New("a result is outside the memory")
	}
	return bytes.Clone(data)
}

func (c *calls) word(at uint64) uint64 {
	if data := c.read(at, 4); c.err == nil {
		return uint64(binary.LittleEndian.Uint32(data))
	}
	return 0
}

// plugins returns the array of pairs of a name and a library that gvContextPlugins wants, made of the list of those that are compiled in.
func (c *calls) plugins() uint64 {
	out := c.bytes(make([]byte, 8))
	c.call("wasm_bridge_SymList_default", out)
	list := c.word(out)
	var array []byte
	for i := range c.word(list) { // a length, then where pointers to pairs are
		pair := c.word(c.word(list+4) + 8*i)
		array = append(array, c.read(pair, 8)...)
	}
	return c.bytes(append(array, make([]byte, 8)...))
}

// Notice returns where Graphviz comes from, and on which terms, for those who pass the module on.
func Notice() []byte { return notice }

// GraphvizModule returns the WebAssembly module of Graphviz, for those who run it elsewhere: in a browser. It must not be changed.
func GraphvizModule() []byte { return graphvizCode }
