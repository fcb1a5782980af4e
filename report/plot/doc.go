// Package plot draws charts of numbers with their intervals, as SVG and PNG. What a
// chart shows is decided by others.
//
// The pictures are simple, and a module that draws every kind brought 60 packages with
// it: fonts, PDF, TeX. Only the outlines of letters and the filling of shapes come from
// golang.org/x/image.
//
//	err := plot.Write(w, "losing.svg", &plot.Chart{Series: series})
package plot
