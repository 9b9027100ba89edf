#!/usr/bin/env bash
# shellcheck disable=SC2317  # the tests are called by their names
# Files of MSCCL's XML: checked, shown, and refused where they cannot be honoured. How to run it: lib.sh.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

ring4=$source_dir/scenarios/schedules/ring4.xml

test_the_example_is_what_is_exported() {
    run show schedule ring --gpus 4 --format msccl
    exits 0
    same out "$ring4"
}

test_check_proves_a_file() {
    cp "$ring4" mine.xml
    run check mine.xml
    exits 0
    prints "mine.xml: an all-reduce in MSCCL's XML, ring, of 4 GPUs in 4 chunks, 24 messages, proved" # 2(p-1) p
    refuses "found --set with a schedule" check mine.xml --set 'link.bandwidth=1 GB/s'
}

test_a_file_is_shown_like_any_schedule() {
    run show schedule "msccl(file=$ring4)" --gpus 4
    exits 0
    prints "schedule msccl(file=$ring4): 4 workers"
    refuses "the file is for 4 GPUs" show schedule "msccl(file=$ring4)" --gpus 8
    run show strategy msccl
    exits 0
    prints "any text (must be given)"
    refuses "expected msccl(file=...)" show schedule msccl
    refuses "nowhere.xml" show schedule 'msccl(file=nowhere.xml)'
}

test_steps_of_a_scenario_with_a_file() {
    run predict firecaffe-nin --gpus 1,4 --strategy "msccl(file=$ring4)" --format csv
    exits 0
    prints "msccl(file=$ring4)"
    prints "the file is for 4 GPUs"
}

test_a_file_that_cannot_be_honoured() {
    sed 's/coll="allreduce"/coll="allgather"/' "$ring4" >gather.xml
    refuses 'gather.xml:2:77: found coll="allgather", expected coll="allreduce"' check gather.xml
    sed '$d' "$ring4" | sed '$d' >cut.xml # no </gpu>, no </algo>
    refuses "cut.xml:" check cut.xml
    sed '0,/type="rrc"/s//type="rcc"/' "$ring4" >typo.xml
    line=$(grep -n rcc typo.xml | cut -d: -f1)
    refuses "typo.xml:$line:" predict --cluster ethernet-10g --gpus 4 --bytes '1 MiB' --strategy 'msccl(file=typo.xml)'
    says 'found type="rcc", expected a type of step: s, r, rrc'
    # What comes in overwrites where it should be added.
    sed '0,/type="rrc"/s//type="r"/' "$ring4" >lossy.xml
    refuses "expected an all-reduce: every gpu ends with every gpu's contribution once" check lossy.xml
}

run_tests "$@"
