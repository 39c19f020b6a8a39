// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ContentPackage
import Foundation
import StoreWire

struct ContentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "content", abstract: "Hosted content of products that are bought once.",
        discussion: """
            A package is a folder, or a ZIP of one, with Contents/ and a ContentInfo.plist that \
            has the keys ContentVersion and IAPProductIdentifier.
            """,
        subcommands: [Check.self, Pack.self, Upload.self, List.self, Remove.self])

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check a package; a wrong one is exit code 65.")

        @Argument(help: "A ZIP or a folder.") var package: String
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let checked = CheckedPackage(package, try LocalPackage(path: package).check())
            try printing.show(checked, checked.words)
        }
    }

    struct Pack: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pack",
            abstract: "Make a ZIP of a folder; the same folder gives the same bytes.")

        @Argument(help: "The package's folder.") var folder: String
        @Argument(help: "The ZIP; it is replaced.") var zip: String
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let packed = CheckedPackage(zip, try LocalPackage(path: folder).pack(to: zip))
            try printing.show(packed, packed.words)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the versions of an app's content.",
            discussion: """
                `missing` is a version whose bytes the store does not have: upload it. With \
                --check the store reads all bytes; one that is `damaged` is uploaded again, too. \
                Then a version without its bytes is exit code 1.
                """)

        @Option(name: .long, help: "Only this product's.") var product: String?
        @Flag(name: .long, help: "Compare the bytes of each version with its digest.")
        var check = false
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            var records: [ContentRecord] = []
            var next: String?
            repeat {
                let query = [("productId", product), ("after", next)].compactMap { name, value in
                    value.map { "\(name)=\(DoorClient.part($0))" }
                }
                let page = try await store.operatorDoor.get(
                    "/apps/\(bundleID)/content?" + query.joined(separator: "&"),
                    as: ContentRecords.self)
                records += page.content
                next = page.next
            } while next != nil
            guard check else {
                return try printing.show(records, lines: Output.table(records.map(\.cells)))
            }
            var rows: [[String]] = []
            var areWhole = true
            for (index, record) in records.enumerated() {
                guard record.state == "ready" else {
                    rows.append(record.cells)
                    continue
                }
                let read = try await store.operatorDoor.get(
                    ContentRecord.path(record.productId, record.version, of: bundleID)
                        + "?check=true", as: ContentRecord.self)
                areWhole = areWhole && read.isMissing != true
                records[index].isMissing = read.isMissing
                rows.append(read.cells(wasThere: record.isMissing != true))
            }
            try printing.show(records, lines: Output.table(rows))
            if !areWhole { throw ExitCode(ExitStatus.no.rawValue) }
        }
    }

    struct Remove: AsyncParsableCommand {
        private struct Answer: Encodable {
            let product: String
            let version: String
        }

        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a version, or an upload that is not complete.",
            discussion: """
                Customers get the newest version that is left. The number of a version that was \
                ready cannot be used again.
                """)

        @Argument(help: "The product's id.") var product: String
        @Argument(help: "The version, from `content list`.") var version: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            try await store.operatorDoor.delete(
                ContentRecord.path(product, version, of: bundleID))
            try printing.show(
                Answer(product: product, version: version), "Removed \(product) \(version).")
        }
    }
}

/// A package on this machine.
struct LocalPackage {
    let path: String

    private var isFolder: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && isFolder.boolValue
    }

    func check() throws -> ContentSummary {
        do throws(ContentFault) {
            return isFolder
                ? try ContentPackage.check(folder: path) : try ContentPackage.check(zip: path)
        } catch { throw Self.failure(error) }
    }

    func pack(to zip: String) throws -> ContentSummary {
        do throws(ContentFault) {
            return try ContentPackage.pack(folder: path, to: zip)
        } catch { throw Self.failure(error) }
    }

    /// Calls `body` with a ZIP of the package. That of a folder is removed
    /// afterwards.
    func zipped<Answer>(
        _ body: (_ zip: String, ContentSummary) async throws -> Answer
    ) async throws -> Answer {
        guard isFolder else { return try await body(path, try check()) }
        let folder = FileManager.default.temporaryDirectory.path
        let zip = "\(folder)/shopkeeper-content-\(ProcessID.own).zip"
        defer { try? FileManager.default.removeItem(atPath: zip) }
        return try await body(zip, try pack(to: zip))
    }

    private static func failure(_ fault: ContentFault) -> Failure {
        Failure(
            .input, "contentInvalid", fault.sentence, field: fault.entry ?? "package",
            rule: fault.code.description, remedy: "mend the package and try again")
    }
}

/// What a check found.
private struct CheckedPackage: Encodable {
    let package: String
    let productId: String
    let version: String
    let entries: Int
    let unpackedBytes: Int64

    init(_ package: String, _ summary: ContentSummary) {
        self.package = package
        productId = summary.info.productId
        version = summary.info.version
        entries = summary.entries
        unpackedBytes = summary.unpackedBytes
    }

    var words: String {
        "\(package): \(productId) \(version), \(entries) entries, \(unpackedBytes) bytes unpacked"
    }
}

extension ContentRecord {
    static func path(_ product: String, of bundleID: String) -> String {
        ProductRecord.path(product, of: bundleID) + "/content"
    }

    static func path(_ product: String, _ version: String, of bundleID: String) -> String {
        path(product, of: bundleID) + "/" + DoorClient.part(version)
    }

    fileprivate var cells: [String] {
        [
            productId, version, isMissing == true ? "missing" : state, "\(length) bytes",
            String(sha256.prefix(16)),
        ]
    }

    /// After a check; `wasThere` is what the list said before it.
    fileprivate func cells(wasThere: Bool) -> [String] {
        var cells = cells
        if isMissing == true, wasThere { cells[2] = "damaged" }
        return cells
    }

    var words: String { cells.joined(separator: "  ") }
}
