// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Hosted content from a store's process to a device's, each on loopback: the rate beside
/// nginx and curl, the memory of a large one, and what interruptions cost.
struct DownloadBench {
    private let rounds = Brief.or(9, brief: 2)
    private let small = Brief.or(10_000_000, brief: 1_000_000)
    private let medium = Brief.or(300_000_000, brief: 2_000_000)
    private let large = Brief.or(1_000_000_000, brief: 3_000_000)
    private let cuts = Brief.or(100, brief: 3)
    private let cutRounds = Brief.or(3, brief: 1)

    func run() async throws -> (figures: [Pairs], notes: [String]) {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-downloads-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let content = try await BenchContent(
            lengths: [small, medium, large], customers: rounds + cutRounds * 2 + 2, in: folder)
        let nginx = try Nginx(serving: folder.appendingPathComponent("content"), in: folder)
        let scene = Scene(folder: folder, content: content, nginx: nginx)
        let figures = try rates(scene)
        return (figures, try memory(scene) + interruptions(scene))
    }

    private struct Scene {
        let folder: URL
        let content: BenchContent
        let nginx: Nginx

        /// Seconds of the same file from nginx, to a file.
        func curl(_ package: BenchContent.Package) throws -> Double {
            settle()
            return try Curl.seconds(
                nginx.url(content.path(package)), to: folder.appendingPathComponent("curl"))
        }

        /// The same, and what a device does besides: the digest, the unpacking, and all
        /// of it on the disk.
        func curlAndUnpack(_ package: BenchContent.Package) throws -> Double {
            settle()
            let (file, target) = (
                folder.appendingPathComponent("curl.zip"),
                folder.appendingPathComponent("curl.unpacked")
            )
            defer { try? FileManager.default.removeItem(at: target) }
            defer { try? FileManager.default.removeItem(at: file) }
            return try seconds {
                try Command.run(
                    "curl", "--silent", "--show-error", "--fail", "--output", file.path,
                    nginx.url(content.path(package)))
                try Command.run("sync", file.path)
                try Command.run("sha256sum", file.path)
                try Command.run("bsdtar", "-xf", file.path, "-C", try made(target).path)
                try Command.run("sync", "-f", target.path)
            }
        }

        private func made(_ folder: URL) throws -> URL {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return folder
        }

        /// What was written before is on the disk, so that nobody pays for another.
        func settle() { sync() }
    }

    private func rates(_ scene: Scene) throws -> [Pairs] {
        let package = scene.content.packages[1]
        let store = try ServedProcess(arguments: ["serve-as-is", scene.folder.path])
        defer { store.kill() }
        var transfer = Pairs(
            "\(medium) bytes into a device's file / curl from nginx", atLeast: 0.5)
        var whole = Pairs(
            "the same, checked, unpacked and on the disk / curl, sha256sum, bsdtar and sync",
            atLeast: 0.5)
        var alone = Pairs("the same / curl from nginx alone", atLeast: nil)
        for round in 0..<rounds {
            progress("download \(round + 1) of \(rounds)")
            let bare = try scene.curl(package)
            scene.settle()
            let ours = try FetchingProcess(
                port: store.port, customer: round, product: package.productID,
                in: scene.folder)
            transfer.add(bare: bare, ours: ours.transfer)
            whole.add(bare: try scene.curlAndUnpack(package), ours: ours.seconds)
            alone.add(bare: bare, ours: ours.seconds)
        }
        return [transfer, whole, alone]
    }

    // MARK: Memory

    private func memory(_ scene: Scene) throws -> [String] {
        var notes: [String] = []
        for (index, customer) in [(0, rounds), (2, rounds + 1)] {
            let package = scene.content.packages[index]
            progress("memory for \(package.length) bytes")
            scene.settle()
            let store = try ServedProcess(arguments: ["serve-as-is", scene.folder.path])
            defer { store.kill() }
            let device = try FetchingProcess(
                port: store.port, customer: customer, product: package.productID,
                in: scene.folder)
            notes.append(
                String(
                    format: "download of %lld bytes: device %.1f MiB at most, store %.1f MiB, "
                        + "%.1f s", package.length, Double(device.peak) / 1_048_576,
                    Double(try store.memory.peak) / 1_048_576, device.seconds))
        }
        return notes
    }

    // MARK: Interruptions

    private func interruptions(_ scene: Scene) throws -> [String] {
        let package = scene.content.packages[1]
        let store = try ServedProcess(arguments: ["serve-as-is", scene.folder.path])
        defer { store.kill() }
        var notes: [String] = []
        for round in 0..<cutRounds {
            progress("\(cuts) cuts, \(round + 1) of \(cutRounds)")
            var took: [Double] = []
            for cuts in [0, cuts] {
                scene.settle()
                let proxy = try CuttingProxy(
                    to: store.port, cuts: cuts, bytesMax: Int(package.length) / (cuts + 1))
                defer { proxy.stop() }
                let customer = rounds + 2 + round * 2 + took.count
                let device = try FetchingProcess(
                    port: proxy.port, customer: customer, product: package.productID,
                    in: scene.folder)
                guard proxy.cutsLeft == 0 else {
                    throw ClientFailure("\(proxy.cutsLeft) cuts were not made")
                }
                took.append(device.seconds)
                guard cuts > 0 else { continue }
                let twice = Int64(proxy.bodyBytes) - package.length
                notes.append(
                    String(
                        format: "%d cuts of %lld bytes: %.2f s without, %.2f s with (%.0f ms a "
                            + "cut), %lld bytes twice (%.2f %%)", cuts, package.length, took[0],
                        took[1], (took[1] - took[0]) / Double(cuts) * 1000, twice,
                        Double(twice) / Double(package.length) * 100))
            }
        }
        return notes
    }
}
