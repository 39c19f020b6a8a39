// SPDX-License-Identifier: Apache-2.0

/// A problem in a file: the place, the rule and the remedy.
public struct CatalogueProblem: Hashable, Sendable, CustomStringConvertible {
    /// The file's name as the caller gave it.
    public let file: String
    /// For example `products[3].displayPrice`. Empty for the whole file.
    public let keyPath: String
    public let rule: String
    public let remedy: String

    public init(file: String, keyPath: String, rule: String, remedy: String) {
        self.file = file
        self.keyPath = keyPath
        self.rule = rule
        self.remedy = remedy
    }

    /// `FILE: KEY PATH: RULE: REMEDY` in one line.
    public var description: String {
        [file, keyPath, rule, remedy].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}

/// The file cannot be used. Contains every reason that was found.
public struct CatalogueFileFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Never empty.
    public let problems: [CatalogueProblem]

    public init(problems: [CatalogueProblem]) {
        self.problems = problems
    }

    init(_ file: String, _ keyPath: String, _ rule: String, _ remedy: String) {
        self.init(problems: [
            CatalogueProblem(file: file, keyPath: keyPath, rule: rule, remedy: remedy)
        ])
    }

    /// One line for each problem.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
