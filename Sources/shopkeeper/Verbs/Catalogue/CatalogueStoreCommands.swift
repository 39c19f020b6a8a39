// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CatalogueFile
import CatalogueOverlay
import Foundation
import StoreWire

/// Options that select an app of a running store.
struct AppOptions: ParsableArguments {
    @Option(name: .long, help: "The app; default: the served one.")
    var bundleId: String?
    @OptionGroup var store: StoreOptions

    func found() throws -> (store: RunningStore, bundleID: String) {
        let store = try store.store()
        return (store, bundleId ?? store.run.bundleId)
    }
}

extension CatalogueCommand {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Replace an app's catalogue in the running store by a file.",
            discussion: """
                What the format cannot express is read from NAME.storekit.yaml beside it. A product \
                that the file no longer contains is withdrawn from sale, never deleted. An app that \
                does not exist yet is created.
                """)

        @Argument(help: "A file or package, .storekit.") var file: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let read = try CatalogueFile(contentsOf: file)
            let overlay = try CatalogueOverlay.beside(file)
            let found = try app.found()
            let upload = CatalogueUpload(
                file: read, overlay: overlay, door: found.store.operatorDoor,
                bundleID: app.bundleId ?? overlay?.bundleID ?? found.bundleID)
            let done = try await upload.run()
            try printing.show(done, lines: Self.lines(done))
        }

        private static func lines(_ done: CatalogueImported) -> [String] {
            done.warnings.map { "warning: \($0)" } + done.differences.map(\.line)
                + [
                    "\(done.bundleId): \(done.products) products, "
                        + "\(done.differences.count) differences"
                ]
        }
    }

    struct Export: AsyncParsableCommand {
        private struct Written: Encodable {
            let bundleId: String
            let written: [String]
        }

        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write an app's catalogue as a file; unchanged parts keep their bytes.",
            discussion: """
                With images it is a package: a folder with Configuration.storekit and Assets. What \
                the format cannot express, such as states and prices of storefronts, is written \
                beside it as an overlay. Without --output only the file is printed.
                """)

        @Option(name: .shortAndLong, help: "The file or package to write.")
        var output: String?
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let door = store.operatorDoor
            let document = try await door.get(
                "/apps/\(bundleID)/catalogue", as: CatalogueDocument.self)
            guard let output else {
                if printing.json { return try Output.answer(json: document) }
                return Output.contents(document.file)
            }
            var images: [String: Data] = [:]
            for id in document.images ?? [] where id != document.icon {
                images[id] = try await door.bytes("/apps/\(bundleID)/images/\(id)")
            }
            var written = try CatalogueFolder(path: output).write(document, images: images)
            if let overlay = Self.overlay(document, beside: output) {
                written.append(CatalogueOverlay.path(beside: output))
                try CatalogueFolder.write(Data(overlay.utf8), to: written[written.count - 1])
            }
            try printing.show(
                Written(bundleId: bundleID, written: written),
                lines: written.map { "Wrote \($0)." })
        }

        /// Returns the overlay to write, or nil. If an earlier overlay is at
        /// that place, it would be read as this file's. So it is replaced by an
        /// empty one.
        private static func overlay(_ document: CatalogueDocument, beside file: String) -> String? {
            if let overlay = document.overlay { return overlay }
            let exists = FileManager.default.fileExists(
                atPath: CatalogueOverlay.path(beside: file))
            return exists ? "products: {}\n" : nil
        }
    }
}

/// Uploads a file to a store: first its images, then the file.
struct CatalogueUpload {
    let file: CatalogueFile
    let overlay: CatalogueOverlay?
    let door: DoorClient
    let bundleID: String

    func run() async throws -> CatalogueImported {
        let isKnown = try await door.get("/apps", as: AppList.self).apps
            .contains { $0.bundleId == bundleID }
        if isKnown { try await putImages() }
        var done = try await putFile()
        if !isKnown, !file.images.isEmpty {
            // The images of a new app come after it, and the file's warnings
            // last.
            try await putImages()
            done.warnings = try await putFile().warnings
        }
        return done
    }

    private func putFile() async throws -> CatalogueImported {
        let name = URL(fileURLWithPath: file.name).lastPathComponent
        return try await door.put(
            "/apps/\(bundleID)/catalogue",
            CatalogueDocument(
                name: name, file: String(decoding: file.bytes, as: UTF8.self),
                overlay: overlay.map { String(decoding: $0.bytes, as: UTF8.self) }),
            as: CatalogueImported.self)
    }

    private func putImages() async throws {
        for (id, path) in file.images.sorted(by: { $0.key < $1.key }) {
            guard let bytes = FileManager.default.contents(atPath: path) else {
                throw Failure(
                    .input, "imageUnreadable", "\(path) cannot be read.", field: "FILE",
                    remedy: "check its permissions")
            }
            try await door.put("/apps/\(bundleID)/images/\(id)", bytes: bytes)
        }
    }
}

/// The place of an exported catalogue.
private struct CatalogueFolder {
    let path: String

    /// Writes the files and returns their paths.
    func write(_ document: CatalogueDocument, images: [String: Data]) throws -> [String] {
        guard !images.isEmpty || isFolder else {
            try Self.write(Data(document.file.utf8), to: path)
            return [path]
        }
        try makeFolder(path)
        var written = [path + "/Configuration.storekit"]
        try Self.write(Data(document.file.utf8), to: written[0])
        if !images.isEmpty { try makeFolder(path + "/Assets") }
        for (id, bytes) in images.sorted(by: { $0.key < $1.key }) {
            written.append(path + "/Assets/\(id).png")
            try Self.write(bytes, to: written[written.count - 1])
        }
        return written
    }

    private var isFolder: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && isFolder.boolValue
    }

    private func makeFolder(_ folder: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
        } catch { throw Self.unwritable(folder) }
    }

    static func write(_ bytes: Data, to file: String) throws {
        do { try bytes.write(to: URL(fileURLWithPath: file), options: .atomic) } catch {
            throw Self.unwritable(file)
        }
    }

    private static func unwritable(_ path: String) -> Failure {
        Failure(.taken, "fileUnwritable", "\(path) cannot be written.", field: "--output")
    }
}
