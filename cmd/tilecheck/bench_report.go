package main

type benchCompareCmd struct{}

type benchReportCmd struct{}

func (benchCompareCmd) Run() error { return nil }
func (benchReportCmd) Run() error  { return nil }
