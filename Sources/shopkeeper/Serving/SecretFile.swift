// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads secrets: a key, a password, or a database's address with its password.
/// They come from a file that only its owner can read, or from standard input.
/// Every user of the machine could read them on a command line.
enum SecretFile {
    /// Larger files do not contain a secret of ours.
    private static let bytesMax = 64 * 1024

    /// Returns a file's text, or that of standard input if the file is `-`.
    /// Throws ``Failure`` if there is none or others can read it. The file is
    /// opened once, so that the file that is checked is the one that is read.
    static func read(_ file: String, field: String) throws -> String {
        guard let text = try readIfThere(file, field: field) else {
            throw unreadable(file, field)
        }
        return text
    }

    /// The same without the line end, for a secret that may contain spaces.
    static func readLine(_ file: String, field: String) throws -> String {
        var text = try read(file, field: field)
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        guard !text.isEmpty, !text.contains(where: \.isNewline) else {
            throw Failure(
                .usage, "secretUnclear", "\(file) does not hold one line.", field: field,
                rule: "one line, the secret alone", remedy: "write it so")
        }
        return text
    }

    /// Returns an option's value. `@FILE` and `@-` are replaced by the
    /// contents.
    static func value(_ option: String, field: String) throws -> String {
        guard option.hasPrefix("@") else { return option }
        return try readLine(String(option.dropFirst()), field: field)
    }

    /// Nil if there is no such file.
    static func readIfThere(_ file: String, field: String) throws -> String? {
        let handle: FileHandle
        if file == "-" {
            handle = .standardInput
        } else {
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                if errno == ENOENT { return nil }
                throw unreadable(file, field)
            }
            handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            var facts = stat()
            // A pipe has no other readers than this one: <(pass show shop)
            guard fstat(descriptor, &facts) == 0,
                facts.st_mode & S_IFMT == S_IFIFO || facts.st_mode & 0o077 == 0
            else {
                throw Failure(
                    .key, "keyFileOpen", "Others may read \(file).", field: field,
                    rule: "a secret's file has mode 0600",
                    remedy: "chmod 600 it, and make a new secret")
            }
        }
        guard let data = try? handle.read(upToCount: bytesMax),
            let text = String(data: data, encoding: .utf8)
        else { throw unreadable(file, field) }
        return text
    }

    private static func unreadable(_ file: String, _ field: String) -> Failure {
        Failure(
            .key, "keyFileUnreadable", "\(file) cannot be read.", field: field,
            rule: "a file that holds the secret alone", remedy: "name one that is there")
    }
}
