package wasm_test

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"tilecheck/prism/compile/wasm"
)

// TestBytes compares a module with its binary written by hand from the
// specification.
func TestBytes(t *testing.T) {
	var m wasm.Module
	f := m.Func("add", []wasm.Type{wasm.I32, wasm.I32}, []wasm.Type{wasm.I32})
	wasm.Param[int32](0).Add(wasm.Param[int32](1)).Emit(f)
	want := []byte{
		0, 'a', 's', 'm', 1, 0, 0, 0,
		1, 7, 1, 0x60, 2, 0x7f, 0x7f, 1, 0x7f, // type
		3, 2, 1, 0, // function
		7, 7, 1, 3, 'a', 'd', 'd', 0, 0, // export
		10, 9, 1, 7, 0, 0x20, 0, 0x20, 1, 0x6a, 0x0b, // code
	}
	if got := m.Bytes(); !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func run(t *testing.T, m *wasm.Module, args ...uint64) []uint64 {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() {
		if err := r.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	mod, err := r.Instantiate(ctx, m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	res, err := mod.ExportedFunction("f").Call(ctx, args...)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestConstants(t *testing.T) {
	for _, x := range []int64{0, 1, -1, 63, 64, -64, -65, 8191, 8192, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64} {
		var m wasm.Module
		f := m.Func("f", nil, []wasm.Type{wasm.I64, wasm.I32, wasm.F64})
		wasm.Const(x).Emit(f)
		wasm.Const(int32(x)).Emit(f)
		wasm.Const(float64(x)).Emit(f)
		got := run(t, &m)
		if int64(got[0]) != x || int32(got[1]) != int32(x) || api.DecodeF64(got[2]) != float64(x) {
			t.Errorf("%d: got %v", x, got)
		}
	}
}

// TestControl computes n! with a loop, in a global, with a table of the small ones.
func TestControl(t *testing.T) {
	var m wasm.Module
	acc := wasm.Global[int64](&m)
	m.Memory(1)
	m.Data(8, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	f := m.Func("f", []wasm.Type{wasm.I64}, []wasm.Type{wasm.I64})
	acc.Set(f, wasm.Load[int64](wasm.Const(int32(0)), 8))
	n := wasm.InLocal(f, wasm.Param[int64](0))
	f.Block(func(done wasm.Label) {
		f.Loop(func(again wasm.Label) {
			f.BrIf(done, n.IsZero())
			acc.Set(f, acc.Mul(n))
			n.Set(f, n.Sub(wasm.Const(int64(1))))
			f.Br(again)
		})
	})
	acc.Emit(f)
	if got := run(t, &m, 20); got[0] != 2432902008176640000 {
		t.Errorf("20! = %d", got[0])
	}
}

func TestBrTable(t *testing.T) {
	for arg, want := range []uint64{10, 20, 30, 30} {
		var m wasm.Module
		f := m.Func("f", []wasm.Type{wasm.I32}, []wasm.Type{wasm.I32})
		var labels []wasm.Label
		for range 3 {
			labels = append([]wasm.Label{f.Open()}, labels...)
		}
		f.BrTable(wasm.Param[int32](0), labels[:2], labels[2])
		for i := range 3 {
			f.End()
			f.Return(wasm.Const(int32(10 * (i + 1))))
		}
		f.Op(wasm.Unreachable)
		if got := run(t, &m, uint64(arg)); got[0] != want {
			t.Errorf("%d: got %d, want %d", arg, got[0], want)
		}
	}
}
