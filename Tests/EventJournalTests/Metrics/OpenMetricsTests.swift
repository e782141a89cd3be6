import Testing

@testable import EventJournal

@Suite struct OpenMetricsTests {
    private func statistics() throws -> JournalStatistics {
        let journal = try Journal.open("journal", options: JournalOptions(segmentSize: 600, storage: MemoryStorage()))
        for count in 1...20 {
            try journal.append([Entry](repeating: Entry("kept", "erasable"), count: 1 + count % 3))
            if count % 4 == 0 { try journal.synchronize() }
        }
        var statistics = journal.statistics
        statistics.recovery.recoveredPositions = 2...4
        statistics.recovery.cutBytes = 100..<612
        statistics.recovery.damagedSlots = [0]
        statistics.recovery.wasClean = false
        return statistics
    }

    @Test func textHoldsAllStatistics() throws {
        let statistics = try statistics()
        let families = try OpenMetricsReader(statistics.openMetrics()).families
        func value(_ name: String, _ type: String, unit: String = "") throws -> Double {
            let family = try #require(families["event_journal_" + name], "\(name)")
            #expect(family.type == type && family.unit == unit, "\(name)")
            #expect(family.samples.count == 1 && family.samples[0].labels.isEmpty, "\(name)")
            return family.samples[0].value
        }
        #expect(statistics.rotations > 0 && statistics.storedBytes > 0 && statistics.syncs > 4)
        #expect(try value("last_position", "gauge") == Double(statistics.lastPosition))
        #expect(try value("durable_position", "gauge") == Double(statistics.durablePosition))
        #expect(try value("segments", "gauge") == Double(statistics.segments))
        #expect(try value("stored_bytes", "gauge", unit: "bytes") == Double(statistics.storedBytes))
        #expect(try value("unused_bytes", "gauge", unit: "bytes") == Double(statistics.unusedBytes))
        #expect(try value("appended_bytes", "counter", unit: "bytes") == Double(statistics.appendedBytes))
        #expect(try value("roll_overs", "counter") == Double(statistics.rotations))
        #expect(try value("refused_full", "counter") == 0)
        #expect(try value("waiters", "gauge") == 0)
        #expect(try value("stopped", "gauge") == 0)
        #expect(try value("recovery_clean", "gauge") == 0)
        #expect(try value("recovery_recovered_records", "gauge") == 3)
        #expect(try value("recovery_cut_bytes", "gauge", unit: "bytes") == 512)
        #expect(try value("recovery_damaged_slots", "gauge") == 1)
        #expect(
            families["event_journal_opening"]?.samples == [
                .init(
                    name: "event_journal_opening_info",
                    labels: ["journal": statistics.journal.description, "durability": "synced", "mode": "write"],
                    value: 1)
            ])
        try compare(
            statistics.recordsPerCommit, families["event_journal_commit_records"], "event_journal_commit_records", 1)
        try compare(statistics.commitsPerSync, families["event_journal_sync_commits"], "event_journal_sync_commits", 1)
        #expect(families["event_journal_sync_duration_seconds"]?.unit == "seconds")
        try compare(
            statistics.syncLatency, families["event_journal_sync_duration_seconds"],
            "event_journal_sync_duration_seconds", 1e9)
        #expect(families.count == 21)
    }

    private func compare(
        _ histogram: JournalStatistics.Histogram, _ found: OpenMetricsReader.Family?, _ name: String, _ divisor: Double
    )
        throws
    {
        let family = try #require(found)
        #expect(family.type == "histogram")
        var total = 0.0
        var expected: [OpenMetricsReader.Sample] = []
        for bucket in histogram.buckets {
            total += Double(bucket.count)
            let bound = bucket.upperBound.map { Double($0) / divisor }
            expected.append(
                .init(name: name + "_bucket", labels: ["le": bound.map { "\($0)" } ?? "+Inf"], value: total))
        }
        expected.append(.init(name: name + "_count", labels: [:], value: Double(histogram.count)))
        expected.append(.init(name: name + "_sum", labels: [:], value: Double(histogram.sum) / divisor))
        #expect(family.samples == expected)
    }

    @Test(arguments: [("a b", "a_b"), ("9lives", "_9lives"), ("é\"\n{", "____"), ("", "_"), ("ns:x", "ns:x")])
    func prefixIsSanitized(_ prefix: String, _ name: String) throws {
        let families = try OpenMetricsReader(try statistics().openMetrics(prefix: prefix)).families
        #expect(families["\(name)_segments"] != nil)
        #expect(families.keys.allSatisfy { $0.hasPrefix(name + "_") })
    }

    @Test func labelsAreEscaped() throws {
        var text = OpenMetricsText(prefix: "x")
        text.info("odd", "A \\ and a\nline.", [("label", "a\"b\\c\nd")])
        text.counter("many", "Many.", by: "kind", [("a,b", 1), ("}", 2)])
        let families = try OpenMetricsReader(text.finished).families
        #expect(families["x_odd"]?.samples == [.init(name: "x_odd_info", labels: ["label": "a\"b\\c\nd"], value: 1)])
        #expect(families["x_odd"]?.help == #"A \\ and a\nline."#)
        #expect(families["x_many"]?.samples.map(\.labels) == [["kind": "a,b"], ["kind": "}"]])
    }

    @Test func fullPositionRangeIsFormatted() throws {
        var statistics = try statistics()
        statistics.recovery.recoveredPositions = 0...Position.max
        _ = try OpenMetricsReader(statistics.openMetrics())
    }

    /// The reader proves something only if it rejects invalid text.
    @Test(arguments: [
        "# TYPE a gauge\n# HELP a A.\na 1\n", "# TYPE a gauge\n# HELP a A.\na 1\n# EOF", "a 1\n# EOF\n",
        "# TYPE a counter\n# HELP a A.\na 1\n# EOF\n", "# TYPE a gauge\n# HELP a A.\na 1\na 2\n# EOF\n",
        "# TYPE a gauge\n# HELP a A.\na 1\n# TYPE b gauge\n# HELP b B.\nb 1\n# HELP a A.\na{x=\"1\"} 1\n# EOF\n",
        "# TYPE a_bytes gauge\n# UNIT a_bytes seconds\n# HELP a_bytes A.\na_bytes 1\n# EOF\n",
        "# TYPE a histogram\n# HELP a A.\na_bucket{le=\"1.0\"} 2\na_bucket{le=\"+Inf\"} 1\na_count 1\na_sum 1\n# EOF\n",
        "# TYPE a histogram\n# HELP a A.\na_bucket{le=\"1.0\"} 1\na_count 1\na_sum 1\n# EOF\n",
        "# TYPE a gauge\n# HELP a A.\na{x=\"1} 1\n# EOF\n",
    ]) func readerRejectsInvalidText(_ text: String) {
        #expect(throws: OpenMetricsReader.Problem.self) { try OpenMetricsReader(text) }
    }
}
