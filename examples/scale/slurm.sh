#!/bin/bash
# Workers for a run, as a Slurm array: sbatch --array=1-16 slurm.sh RUN
# The run was begun with `greenroom run ... --processes 0 --name RUN`.
#SBATCH --job-name=greenroom
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --time=08:00:00
#SBATCH --signal=B:TERM@60
#SBATCH --requeue

# GREENROOM_DATABASE_URL and the provider's key come from the environment of the job.
set -euo pipefail
exec greenroom worker --run "$1"
