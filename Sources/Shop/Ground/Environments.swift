// SPDX-License-Identifier: Apache-2.0

/// The words for the kinds of realms, in the data that they sign.
enum Environments {
    static let sandbox = "Sandbox"
    static let production = "Production"
}
