// Package plot draws charts of numbers with their intervals, as SVG and PNG.
//
// A general plotting module would bring 60 packages (fonts, PDF, TeX) for these simple
// pictures. Only the outlines of letters and the filling of shapes come from
// golang.org/x/image.
//
//	err := plot.Write(w, "losing.svg", &plot.Chart{Series: series})
package plot
