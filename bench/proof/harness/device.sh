#!/usr/bin/env bash
# One capture session on a GPU machine: truth without a profiler, then nsys, then ncu; everything ends up in $OUT.
# Expects the built programs and, where Nsight Systems is not installed, Debian's libdw1 and libelf1 in $CARRIED.
#   device.sh [GROUPS of: truth nsys kernels torch questions]   IDS="P21 P22" restricts the cases
set -u
here=$(cd "$(dirname "$0")" && pwd)
carried=${CARRIED:-$here/../../../.device}
work=${WORK:-/tmp/proof} ids=${IDS:-} groups=${*:-truth nsys kernels torch questions}
mkdir -p "$work"
export PYTHONUNBUFFERED=1
begin=$SECONDS
say() { echo "[$((SECONDS - begin)) s] $*"; }
wants() { [[ " $groups " == *" $1 "* ]]; }

compute=$(ls -d /opt/nvidia/nsight-compute/*/ | head -1)
ncu=$(command -v ncu || echo "${compute}ncu")
target=${compute}host/target-linux-x64 host=${compute}host/linux-desktop-glibc_2_11_3-x64
sections=()
for name in SpeedOfLight SpeedOfLight_RooflineChart ComputeWorkloadAnalysis MemoryWorkloadAnalysis \
    MemoryWorkloadAnalysis_Tables LaunchStats Occupancy SchedulerStats WarpStateStats InstructionStats SourceCounters \
    WorkloadDistribution; do sections+=(--section "$name"); done
metrics=dram__bytes.sum,smsp__sass_thread_inst_executed_op_conversion_pred_on.sum,smsp__thread_inst_executed_pred_on.sum
metrics+=,smsp__sass_thread_inst_executed_op_fp32_pred_on.sum,smsp__sass_thread_inst_executed_op_fp64_pred_on.sum
ops=sm__ops_path_tensor_src_fp16.sum,sm__ops_path_tensor_src_bf16_dst_fp32.sum,sm__ops_path_tensor_src_tf32_dst_fp32.sum
profile() { # NAME SECONDS ARGUMENTS... -- PROGRAM...
    local name=$1 limit=$2; shift 2
    timeout -s INT "$limit" "$ncu" --clock-control none --profile-from-start off --nvtx -f -o "$work/$name" "$@" \
        > "$work/$name.log" 2>&1
    say "ncu $name: $? $(grep -c 'passes$\|passes)' "$work/$name.log")"; tail -2 "$work/$name.log"
}
print_pages() { # NAME
    for page in raw details; do
        "$ncu" --import "$work/$1.ncu-rep" --csv --page "$page" > "$work/$1.$page.csv" 2> "$work/$1.$page.log"
    done
    say "pages of $1: $(du -sh "$work/$1.raw.csv" "$work/$1.details.csv" | cut -f1 | tr '\n' ' ')"
}

{
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem --format=csv
    nvcc --version | tail -2; "$ncu" --version | tail -2; "$target/nsys" --version
    python3 -c "import torch, triton; print('torch', torch.__version__, 'triton', triton.__version__, 'cuda', torch.version.cuda, 'cudnn', torch.backends.cudnn.version())"
} > "$work/versions.txt" 2>&1
say versions; cat "$work/versions.txt"

if wants truth; then
    timeout 70 "$carried/kernels" time $ids > "$work/kernels.jsonl" 2> "$work/kernels.err"
    say "kernels timed: $? $(wc -l < "$work/kernels.jsonl")"; tail -3 "$work/kernels.err"
    timeout 150 python3 "$here/torch_cases.py" time "$work/torch.jsonl" nsys ncu $ids > "$work/torch.log" 2>&1
    say "torch timed: $? $(wc -l < "$work/torch.jsonl")"; grep -A30 failed "$work/torch.log" | tail -60
    [ -n "$ids" ] || timeout 40 python3 "$here/ceilings.py" "$work/ceilings.json"
    say "ceilings: $(cat "$work/ceilings.json" 2> /dev/null)"
fi

importing=
if wants nsys; then
    mkdir -p /tmp/deb; for f in "$carried"/lib{dw,elf}1_*.deb; do dpkg -x "$f" /tmp/deb; done
    libraries=$(dirname "$(find /tmp/deb -name libdw.so.1 | head -1)")
    timeout -s INT 170 "$target/nsys" profile -s none --cpuctxsw=none --resolve-symbols=false -t cuda,nvtx,osrt \
        --osrt-threshold=100000 -o "$work/trace" -f true \
        python3 "$here/torch_cases.py" trace "$work/traced.txt" nsys $ids > "$work/nsys.log" 2>&1
    say "nsys: $? $(wc -l < "$work/traced.txt")"; ls -la "$work"/trace.* | cut -c20-; grep -A30 failed "$work/nsys.log" | tail -20
    (
        [ -f "$work/trace.nsys-rep" ] || LD_LIBRARY_PATH=$host:$libraries timeout 240 "$host/QdstrmImporter" \
            -i "$work/trace.qdstrm" -o "$work/trace.nsys-rep" > "$work/import.log" 2>&1
        say "imported"
        "$target/nsys" export --type sqlite -o "$work/trace.sqlite" -f true "$work/trace.nsys-rep" > "$work/export.log" 2>&1
        say "exported"
        (cd "$work" && "$target/nsys" stats --format csv -q -r cuda_gpu_trace,cuda_api_trace,nvtx_pushpop_trace \
            -o trace trace.sqlite > stats.log 2>&1)
        say "stats printed"
    ) &
    importing=$!
fi

printing=()
if wants kernels; then
    if [ -n "$ids" ]; then profile kernels 200 "${sections[@]}" --metrics "$metrics" "$carried/kernels" profile $ids
        print_pages kernels & printing+=($!)
    else
        part=0
        while read -r -a some; do
            part=$((part + 1))
            profile "kernels$part" 110 "${sections[@]}" --metrics "$metrics" "$carried/kernels" profile "${some[@]}"
            print_pages "kernels$part" & printing+=($!)
        done < "$here/groups.txt"
    fi
fi
if wants torch; then
    profile torch 100 "${sections[@]}" --section SpeedOfLight_HierarchicalTensorRooflineChart --metrics "$metrics" \
        python3 "$here/torch_cases.py" profile "$work/profiled.txt" ncu $ids
    print_pages torch & printing+=($!)
fi
if wants questions; then
    timeout 60 "$ncu" --clock-control none --csv --page raw --metrics "$metrics,$ops,sm__inst_executed_pipe_tensor.sum,sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum,sm__pipe_tensor_op_hmma_cycles_active.sum,sm__pipe_tensor_cycles_active.sum,sm__pipe_tensor_op_hmma_type_hmma_hgmma_qgmma_cycles_active.sum" \
        "$carried/questions" > "$work/questions.csv" 2>&1
    say "questions: $?"
fi
for job in $importing "${printing[@]}"; do wait "$job"; done

cd "$work" || exit 1
tar -c versions.txt *.jsonl *.json *.log *.err *.txt questions.csv 2> /dev/null | xz -T0 -6 > "$OUT/small.tar.xz"
ls *.raw.csv > /dev/null 2>&1 && tar -c *.raw.csv *.details.csv | xz -T0 -6 > "$OUT/ncu.tar.xz"
ls trace_*.csv > /dev/null 2>&1 && tar -c trace_*.csv | xz -T0 -6 > "$OUT/trace_csv.tar.xz"
[ -f trace.sqlite ] && xz -T0 -3 -k trace.sqlite && mv trace.sqlite.xz "$OUT/"
say "packed"; ls -la "$OUT" | cut -c20-
