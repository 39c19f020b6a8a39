// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import Hummingbird
import Live
import SignedData

/// Settings from the environment. The store's root certificate is a file, as
/// `shopkeeper env` and `shopkeeper exec` name it.
struct Settings {
    let root: [UInt8]
    let port: Int
    let filters: [Filter]

    /// Nil if a setting is missing, or the folder has no filter.
    init?(_ environment: [String: String]) {
        guard let path = environment["SHOPKEEPER_ROOT"],
            let file = FileManager.default.contents(atPath: path),
            let root = try? RootCertificate.der(ofFile: [UInt8](file))
        else { return nil }
        self.root = root
        port = environment["PHOTO_FILTERS_PORT"].flatMap { Int($0) } ?? 4801
        let folder = environment["PHOTO_FILTERS_FOLDER"] ?? "Samples/PhotoFilters/Filters"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        filters = files.sorted().compactMap { file in
            FileManager.default.contents(atPath: "\(folder)/\(file)")
                .flatMap { try? JSONDecoder().decode(Filter.self, from: $0) }
        }
        guard !filters.isEmpty else { return nil }
    }
}

guard let settings = Settings(ProcessInfo.processInfo.environment) else {
    try? FileHandle.standardError.write(
        contentsOf: Data(
            """
            SHOPKEEPER_ROOT must name the file of the store's root certificate, and \
            PHOTO_FILTERS_FOLDER a folder of filters.

            """.utf8))
    exit(64)
}

let delivery = Delivery(
    filters: settings.filters, receipts: ReceiptVerifier(roots: [settings.root]),
    key: SymmetricKey(size: .bits256), clock: Live.wallClock)
let application = Application(
    router: Routes(delivery: delivery).router(),
    configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: settings.port)),
    onServerRunning: { channel in
        print("Serving filters at http://127.0.0.1:\(channel.localAddress?.port ?? 0)")
        fflush(nil)
    })
try await application.runService()
