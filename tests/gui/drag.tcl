# A little window at the screen's right from which one file can be dragged: the file manager of the window test.
package require tkdnd
wm geometry . 120x60+1400+100
pack [label .file -text drag] -expand yes -fill both
tkdnd::drag_source register .file DND_Files 1
bind .file <<DragInitCmd>> {list copy DND_Files [list [lindex $argv 0]]}
