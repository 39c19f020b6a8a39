// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What nobody else may see: a key, a password, a database's address with its
/// password. It comes from a file that its owner alone may read, or from standard
/// input; on a command line every user of the machine could read it.
enum SecretFile {
    /// Larger ones hold no secret of ours.
    private static let bytesMax = 64 * 1024

    /// A file's text, or that of standard input where the file is `-`. Throws
    /// ``Failure`` where there is none, or others may read it: it is opened once,
    /// and what is judged is what is read.
    static func read(_ file: String, field: String) throws -> String {
        guard let text = try readIfThere(file, field: field) else {
            throw unreadable(file, field)
        }
        return text
    }

    /// The same, without the end of its line: for a secret that may have spaces.
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

    /// An option's value; `@FILE` and `@-` name where it is read.
    static func value(_ option: String, field: String) throws -> String {
        guard option.hasPrefix("@") else { return option }
        return try readLine(String(option.dropFirst()), field: field)
    }

    /// Nil where there is no such file.
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
            // A pipe has no readers but this one: <(pass show shop)
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
