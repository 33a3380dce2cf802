// Package skills is a local source of tools: a folder of Agent Skills. Each
// skill is a folder with a SKILL.md, which says in YAML front matter what the
// skill is called and when it helps, and with any other files that SKILL.md
// speaks of. The model lists skills with [ListTool] and reads them, a part at a
// time, with [ReadTool].
//
// It promises:
//
//   - Nothing is kept in memory between calls. The folder is read anew each
//     time, and what a call needs follows from its own arguments, so a call that
//     was stored before a restart runs as it would have run before.
//   - Only regular files below a skill's own folder are read, by the names that
//     the folder itself gives them, in that case. Symbolic links are not
//     followed, names that begin with a dot do not exist, and no path leads out.
//   - Equal folders give equal answers: everything is in the order of its name.
//   - What is wrong with a skill is said where it is listed; it is never hidden.
//   - A wrong skill or file is the tool's own answer, which names what there is.
//     A folder that is gone is an error of the source, and so is a skill that is
//     gone when a person has approved reading it: the call was not sent, so the
//     turn stays paused and says why.
//
// It does not promise that what a skill says is right or harmless; it runs
// nothing of a skill, and honours no permission that a skill gives itself. A
// file is read as it is now, which need not be as it was when it was listed. Of
// files only UTF-8 text is read; others are named with their size.
package skills
