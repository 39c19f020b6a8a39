// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StorageSQLite
import StoreWire

struct CertificateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate", abstract: "The certificates behind the store's signatures.",
        subcommands: [Root.self, List.self, Rotate.self, Revoke.self])

    struct Root: AsyncParsableCommand {
        private struct Answer: Encodable {
            let certificate: String
            let file: String?
        }

        static let configuration = CommandConfiguration(
            commandName: "root", abstract: "Print the root certificate, or write it to a file.")

        @Option(name: .shortAndLong, help: "A file; DER for .cer and .der, else PEM.")
        var output: String?
        @Flag(name: .long, help: "The root of production realms.") var production = false
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let door = try store.store().publicDoor
            let kind = production ? "production" : "sandbox"
            let pem = try await door.bytes("/certificates/root?kind=\(kind)&format=pem")
            let text = String(decoding: pem, as: UTF8.self)
            if let output {
                let isDER = [".cer", ".der"].contains { output.lowercased().hasSuffix($0) }
                let bytes = isDER ? try await door.bytes("/certificates/root?kind=\(kind)") : pem
                do {
                    try PrivateFiles.store([UInt8](bytes), as: output, mode: 0o644)
                } catch {
                    throw Failure(.taken, "fileUnwritable", "\(error)", field: "--output")
                }
            }
            try printing.show(
                Answer(certificate: text, file: output),
                lines: output.map { ["Wrote \($0)."] }
                    ?? text.split(separator: "\n").map(String.init))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the certificates: issued, in use, revoked.")

        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let list = try await store.store().storeDoor
                .get("/certificates", as: CertificateList.self).certificates
            try printing.show(list, lines: CertificateCommand.table(list))
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Issue new certificates; running servers sign with them within seconds.",
            discussion: "Earlier signatures still verify, because they contain their chain.")

        @Flag(name: .long, help: "Issue a new intermediate too; this needs the root's key.")
        var intermediate = false
        @Option(
            name: .long, help: "The file with the root's key (PEM), if the store does not have it.")
        var rootKey: String?
        @Flag(name: .long, help: "The certificates of production realms.") var production = false
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let list = try await store.store().storeDoor.post(
                "/certificates/rotations",
                RotateCertificatesRequest(
                    kind: production ? "production" : "sandbox",
                    withIntermediate: intermediate, rootKey: try key()),
                as: CertificateList.self
            ).certificates
            try printing.show(list, lines: CertificateCommand.table(list))
        }

        private func key() throws -> String? {
            guard let rootKey else { return nil }
            return try SecretFile.read(rootKey, field: "--root-key")
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke", abstract: "Revoke a certificate for clients that check online.")

        @Argument(help: "Its serial number, from `certificate list`.") var serial: String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let revoked = try await store.store().storeDoor.post(
                "/certificates/revocations", RevokeCertificateRequest(serialNumber: serial),
                as: CertificateSummary.self)
            try printing.show(revoked, lines: CertificateCommand.table([revoked]))
        }
    }

    fileprivate static func table(_ list: [CertificateSummary]) -> [String] {
        Output.table(
            list.map { one in
                let state = one.revokedDate.map { "revoked \($0)" } ?? (one.isInUse ? "in use" : "")
                return [one.serialNumber, one.kind, one.role, "\(one.generation)", state]
            })
    }
}
