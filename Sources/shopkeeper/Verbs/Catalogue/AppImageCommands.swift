// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreWire

extension AppCommand {
    struct Image: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "image", abstract: "Images of an app's products.",
            discussion: "`product set --image` assigns images to a product.",
            subcommands: [Put.self, Delete.self, List.self])
    }
}

extension AppCommand.Image {
    struct Put: AsyncParsableCommand {
        private struct Kept: Encodable {
            let image: String
            let bytes: Int
        }

        static let configuration = CommandConfiguration(
            commandName: "put", abstract: "Store an image; it replaces one with the same id.")

        @Argument(help: "1 to 100 letters, digits, `-`, `.`, `_`.") var image: String
        @Argument(help: "A PNG of at most 8 MiB.") var file: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            guard let bytes = FileManager.default.contents(atPath: file) else {
                throw Failure(
                    .input, "fileUnreadable", "\(file) cannot be read.", field: "file",
                    rule: "a PNG", remedy: "name a file that is there and that you may read")
            }
            let (store, bundleID) = try app.found()
            try await store.operatorDoor.put(
                "/apps/\(bundleID)/images/" + ProductRecord.escaped(image), bytes: bytes)
            try printing.show(
                Kept(image: image, bytes: bytes.count), "\(image): \(bytes.count) bytes")
        }
    }

    struct Delete: AsyncParsableCommand {
        /// The result for one image.
        private struct Answer: Encodable {
            let image: String
            let isDeleted: Bool
            var refusal: WireError?
        }

        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete unused images; exits with 1 if one was not deleted.",
            discussion: """
                An image that a product, the catalogue file or its overlay uses is kept, and the \
                command reports where it is used. The other images are deleted.
                """)

        @Argument(help: "Their ids, from `app image list`.") var images: [String]
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            var answers: [Answer] = []
            for image in images {
                do {
                    try await store.operatorDoor.delete(
                        "/apps/\(bundleID)/images/" + ProductRecord.escaped(image))
                    answers.append(Answer(image: image, isDeleted: true))
                } catch let failure as Failure where failure.code == .no {
                    answers.append(Answer(image: image, isDeleted: false, refusal: failure.error))
                    if !printing.json { failure.complain(asJSON: false) }
                }
            }
            let deleted = answers.filter(\.isDeleted).map { "Deleted \($0.image)." }
            try printing.show(answers, lines: deleted)
            if deleted.count < images.count { throw ExitCode(ExitStatus.no.rawValue) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the ids of the images.")

        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let images =
                try await store.operatorDoor.get(
                    "/apps/\(bundleID)/catalogue", as: CatalogueDocument.self
                ).images ?? []
            try printing.show(images, lines: images)
        }
    }
}
