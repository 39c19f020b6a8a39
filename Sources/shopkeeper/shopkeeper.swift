// SPDX-License-Identifier: Apache-2.0

@main struct Placeholder { static func main() {} }
