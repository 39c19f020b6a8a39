// SPDX-License-Identifier: Apache-2.0

import Foundation
import Live

/// The command as a person can type it: its name where the search path finds this
/// very program, else the path of the program.
enum OwnCommand {
    /// `shopkeeper`, or a program that is installed beside it, quoted for a shell.
    static func words(for program: String = "shopkeeper") -> String {
        guard let own = Bundle.main.executableURL?.resolvingSymlinksInPath() else {
            return program
        }
        return words(
            for: program, beside: own.path, path: Live.environment["PATH"] ?? "",
            workingFolder: FileManager.default.currentDirectoryPath)
    }

    /// The same for a program at `own`, in a shell with a search path and a folder.
    static func words(
        for program: String, beside own: String, path: String, workingFolder: String
    ) -> String {
        let folder = URL(fileURLWithPath: own).deletingLastPathComponent()
        let file = folder.appendingPathComponent(program).path
        for entry in path.split(separator: ":") {
            let found = URL(fileURLWithPath: String(entry)).appendingPathComponent(program)
            guard FileManager.default.isExecutableFile(atPath: found.path) else { continue }
            // The first that a shell finds counts.
            if found.resolvingSymlinksInPath().path == file { return program }
            break
        }
        let isBelow = file.hasPrefix(workingFolder + "/")
        return ShellWord.quoted(isBelow ? String(file.dropFirst(workingFolder.count + 1)) : file)
    }
}
