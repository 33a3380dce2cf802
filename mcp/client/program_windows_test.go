package client

import "golang.org/x/sys/windows"

// running says that a process is there.
func running(pid int) bool {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var code uint32
	const stillActive = 259
	return windows.GetExitCodeProcess(process, &code) != nil || code == stillActive
}
